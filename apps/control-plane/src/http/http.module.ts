import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import type { ControlPlaneConfiguration } from '../configuration.js';
import { ConsoleController } from './console/console.controller.js';
import { UnknownPathController } from './errors/unknown-path.controller.js';
import { DocsController } from './openapi/docs.controller.js';
import { ErrorFilter } from './pipeline/error.filter.js';
import { CallerGuard } from './pipeline/caller.guard.js';
import { CallInterceptor, RequestInterceptor } from './pipeline/interceptors.js';
import { TokenController } from './pipeline/token.controller.js';
import { Endpoints } from './routing/endpoint.js';

/** What every request passes before its handler: first the guard, then the interceptors in this order. */
@Module({})
export class HttpModule {
  static with(configuration: ControlPlaneConfiguration): DynamicModule {
    return {
      module: HttpModule,
      imports: [DiscoveryModule],
      controllers: [
        ...(configuration.MANAGEMENT_DOCS === 'off' ? [] : [DocsController]),
        ...(configuration.MANAGEMENT_CONSOLE ? [ConsoleController] : []),
        TokenController,
        UnknownPathController,
      ],
      providers: [
        Endpoints,
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_GUARD, useClass: CallerGuard },
        { provide: APP_INTERCEPTOR, useClass: CallInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RequestInterceptor },
      ],
    };
  }
}
