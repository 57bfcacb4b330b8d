import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import type { ControlPlaneConfiguration } from '../configuration.js';
import { ConsoleController } from './console/console.controller.js';
import { UnknownPathController } from './errors/unknown-path.controller.js';
import { DocsController } from './openapi/docs.controller.js';
import { ErrorFilter } from './pipeline/error.filter.js';
import { CallLimitGuard, ScopeGuard, SourceGuard, TokenGuard } from './pipeline/guards.js';
import {
  CallInterceptor,
  RequestInterceptor,
  RevisionInterceptor,
} from './pipeline/interceptors.js';
import { TokenController } from './pipeline/token.controller.js';
import { Endpoints } from './routing/endpoint.js';

/**
 * What every request passes before its handler. The order of the checks is fixed (decisions §8): Nest runs
 * the guards as they stand here, then the interceptors.
 */
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
        { provide: APP_GUARD, useClass: SourceGuard },
        { provide: APP_GUARD, useClass: TokenGuard },
        { provide: APP_GUARD, useClass: CallLimitGuard },
        { provide: APP_GUARD, useClass: ScopeGuard },
        { provide: APP_INTERCEPTOR, useClass: CallInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RequestInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RevisionInterceptor },
      ],
    };
  }
}
