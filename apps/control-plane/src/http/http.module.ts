import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import type { ControlPlaneConfiguration } from '../configuration.js';
import { ConsoleController } from './console/console.controller.js';
import { ErrorFilter } from './errors/error.filter.js';
import { DocsController } from './openapi/docs.controller.js';
import { CallInterceptor } from './pipeline/call.interceptor.js';
import {
  CallLimitGuard,
  ListLimitGuard,
  ScopeGuard,
  SourceGuard,
  TokenGuard,
} from './pipeline/guards.js';
import { RequestInterceptor } from './pipeline/request.interceptor.js';
import { RevisionInterceptor } from './pipeline/revision.interceptor.js';
import { TokenController } from './pipeline/token.controller.js';
import { UnknownPathController } from './pipeline/unknown-path.controller.js';
import { Endpoints } from './routing/endpoints.js';

/**
 * What every request passes before its handler. The order of the checks is fixed (decisions §8, Requests): Nest runs
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
        { provide: APP_GUARD, useClass: ListLimitGuard },
        { provide: APP_INTERCEPTOR, useClass: CallInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RequestInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RevisionInterceptor },
      ],
    };
  }
}
