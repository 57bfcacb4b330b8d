import { Module } from '@nestjs/common';
import { DomainListsController } from './domain-lists.controller.js';
import { DomainListsService } from './domain-lists.service.js';

@Module({ controllers: [DomainListsController], providers: [DomainListsService] })
export class DomainListsModule {}
