import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import type { Tracer } from '@weir/telemetry';
import { ErrorFilter } from './errors/error.filter.js';
import { DocsController } from './openapi/docs.controller.js';
import { AuthorInterceptor } from './pipeline/author.interceptor.js';
import { CallLimitGuard } from './pipeline/call-limit.guard.js';
import { HTTP_OPTIONS, type HttpOptions } from './pipeline/http-options.js';
import { ListLimitGuard } from './pipeline/list-limit.guard.js';
import { RequestInterceptor } from './pipeline/request.interceptor.js';
import { RevisionInterceptor } from './pipeline/revision.interceptor.js';
import { ScopeGuard } from './pipeline/scope.guard.js';
import { SourceGuard } from './pipeline/source.guard.js';
import { TokenGuard } from './pipeline/token.guard.js';
import { TraceInterceptor } from './pipeline/trace.interceptor.js';
import { UnknownPathController } from './pipeline/unknown-path.controller.js';
import { Endpoints } from './routing/endpoints.js';

/**
 * What every request passes before its handler. The order of the checks is fixed (decisions §8, Requests): Nest runs
 * the guards as they stand here, then the interceptors.
 */
@Module({})
export class HttpModule {
  static with(options: HttpOptions): DynamicModule {
    return {
      module: HttpModule,
      imports: [DiscoveryModule],
      controllers: [...(options.docs === 'off' ? [] : [DocsController]), UnknownPathController],
      providers: [
        { provide: HTTP_OPTIONS, useValue: options },
        Endpoints,
        { provide: APP_FILTER, useValue: new ErrorFilter(options.log) },
        { provide: APP_GUARD, useClass: SourceGuard },
        { provide: APP_GUARD, useClass: TokenGuard },
        { provide: APP_GUARD, useClass: CallLimitGuard },
        { provide: APP_GUARD, useClass: ScopeGuard },
        { provide: APP_GUARD, useClass: ListLimitGuard },
        ...trace(options.tracer),
        { provide: APP_INTERCEPTOR, useClass: AuthorInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RequestInterceptor },
        { provide: APP_INTERCEPTOR, useClass: RevisionInterceptor },
      ],
    };
  }
}

function trace(tracer: Tracer | null): Provider[] {
  if (tracer === null) return [];
  const useFactory = (endpoints: Endpoints): TraceInterceptor =>
    new TraceInterceptor(tracer, endpoints);
  return [{ provide: APP_INTERCEPTOR, useFactory, inject: [Endpoints] }];
}
