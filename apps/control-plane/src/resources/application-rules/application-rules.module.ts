import { Module } from '@nestjs/common';
import { ApplicationRulesController } from './application-rules.controller.js';
import { ApplicationRulesService } from './application-rules.service.js';

@Module({ controllers: [ApplicationRulesController], providers: [ApplicationRulesService] })
export class ApplicationRulesModule {}
