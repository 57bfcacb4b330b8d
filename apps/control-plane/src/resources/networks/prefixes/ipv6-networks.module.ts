import { Module } from '@nestjs/common';
import { Ipv6NetworksController } from './ipv6-networks.controller.js';
import { Ipv6NetworksService } from './ipv6-networks.service.js';

@Module({ controllers: [Ipv6NetworksController], providers: [Ipv6NetworksService] })
export class Ipv6NetworksModule {}
