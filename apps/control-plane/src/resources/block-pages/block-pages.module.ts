import { Module } from '@nestjs/common';
import { BlockPagesController } from './block-pages.controller.js';
import { BlockPagesService } from './block-pages.service.js';

@Module({ controllers: [BlockPagesController], providers: [BlockPagesService] })
export class BlockPagesModule {}
