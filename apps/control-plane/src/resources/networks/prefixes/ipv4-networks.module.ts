import { Module } from '@nestjs/common';
import { Ipv4NetworksController } from './ipv4-networks.controller.js';
import { Ipv4NetworksService } from './ipv4-networks.service.js';

@Module({ controllers: [Ipv4NetworksController], providers: [Ipv4NetworksService] })
export class Ipv4NetworksModule {}
