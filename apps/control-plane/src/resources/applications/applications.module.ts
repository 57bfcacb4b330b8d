import { Global, Module } from '@nestjs/common';
import { ActiveCatalogueReader } from './active-catalogue-reader.js';
import { ApplicationsController } from './applications.controller.js';

@Global()
@Module({
  controllers: [ApplicationsController],
  providers: [ActiveCatalogueReader],
  exports: [ActiveCatalogueReader],
})
export class ApplicationsModule {}
