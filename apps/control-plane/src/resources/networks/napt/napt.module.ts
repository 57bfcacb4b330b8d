import { Module } from '@nestjs/common';
import { NaptController } from './napt.controller.js';
import { NaptService } from './napt.service.js';

@Module({ controllers: [NaptController], providers: [NaptService] })
export class NaptModule {}
