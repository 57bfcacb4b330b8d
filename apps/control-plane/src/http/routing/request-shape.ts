import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { prefixFaults, type Fault, throwIfFaults } from '../validation/fault.js';
import type { DtoClass } from '../validation/field-registry.js';
import { readBody, readBodyList, readDto, type ReadResult } from '../validation/read-dto.js';
import type { Request } from './http.js';
import type { RequestContext } from './request-context.js';

/** What an endpoint takes. */
export interface RequestShape {
  /** Class of the path's parts; none: the path has none. */
  readonly path?: DtoClass;
  /** Class of the body, in brackets when the body is a list of them; none: no body is read. */
  readonly body?: DtoClass | readonly [DtoClass];
  /** Class that describes a body which the controller reads itself, as it comes in: `@Req().body` gives its bytes. */
  readonly streamed?: DtoClass;
  /**
   * Body fields that only repeat a part of the path: `{ profile_id: ['profile', 'id'] }`. They must agree with it
   * (decisions §1).
   */
  readonly repeats?: Readonly<Record<string, readonly string[]>>;
}

export const REQUEST_SHAPE = 'weir:shape';

/** Declares what an endpoint takes; `@Param()` and `@Body()` then give instances of the classes. */
export function ApiRequest(shape: RequestShape): MethodDecorator {
  return SetMetadata(REQUEST_SHAPE, shape);
}

/** What an endpoint answers when all goes well, and the refusals of its own beside those that any request may meet. */
export interface ResponseShape {
  /** One line for people. */
  readonly summary: string;
  readonly status: 200 | 201 | 204;
  /** Class of the answer's body, in brackets when it is a list of them; none: the answer has no body. */
  readonly body?: DtoClass | readonly [DtoClass];
  readonly refusals?: readonly (404 | 409)[];
}

export const RESPONSE_SHAPE = 'weir:answer';

/** Declares what an endpoint answers: for Nest its status, for the OpenAPI document all of it. */
export function ApiResponse(shape: ResponseShape): MethodDecorator {
  return applyDecorators(SetMetadata(RESPONSE_SHAPE, shape), HttpCode(shape.status));
}

/** Checks the path and the body of every request in one go, so that all faults of both are reported at once. */
@Injectable()
export class RequestShapeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const shape = this.reflector.get<RequestShape | undefined>(REQUEST_SHAPE, execution.getHandler());
    if (shape !== undefined) {
      const request = execution.switchToHttp().getRequest<Request>();
      const { path, body, faults } = readRequest(shape, request.context);
      throwIfFaults(faults);
      request.params = path;
      request.body = body;
    }
    return next.handle();
  }
}

/** The path and body of a request as its shape wants them, and everything that is wrong with either. */
export function readRequest(
  shape: RequestShape,
  context: Pick<RequestContext, 'pathParts' | 'body'>,
): { path: unknown; body: unknown; faults: Fault[] } {
  const path = readPath(shape, context);
  const body = readRequestBody(shape, context);
  const faults = [...prefixFaults(['path'], path.faults), ...prefixFaults(['body'], body.faults)];
  for (const [part, field] of Object.entries(shape.repeats ?? {})) {
    faults.push(...disagreement(path, part, body, field));
  }
  return { path: path.value, body: body.value, faults };
}

function readPath(shape: RequestShape, { pathParts }: Pick<RequestContext, 'pathParts'>): ReadResult<object> {
  if (shape.path === undefined) return { value: {}, faults: [] };
  const broken = Object.keys(pathParts).filter((name) => pathParts[name] === null);
  const reading = readDto(shape.path, { ...pathParts });
  const others = reading.faults.filter((fault) => !broken.includes(fault.loc[0] ?? ''));
  const msg = 'Percent-encoding is broken';
  return {
    value: reading.value,
    faults: [
      ...broken.map((name): Fault => ({ loc: [name], msg, type: 'value_error' })),
      ...others,
    ],
  };
}

function readRequestBody(shape: RequestShape, { body }: Pick<RequestContext, 'body'>): ReadResult<unknown> {
  if (shape.body === undefined && !shape.streamed) return { value: undefined, faults: [] };
  switch (body.state) {
    case 'streamed':
      return { value: body.bytes, faults: [] };
    case 'absent':
      return {
        value: undefined,
        faults: [{ loc: [], msg: 'A body is required', type: 'missing' }],
      };
    case 'invalid':
      return { value: undefined, faults: [{ loc: [], msg: 'Not JSON', type: 'json_invalid' }] };
    case 'json':
      return Array.isArray(shape.body)
        ? readBodyList((shape.body as readonly [DtoClass])[0], body.value)
        : readBody(shape.body as DtoClass, body.value);
  }
}

function disagreement(
  path: ReadResult<object>,
  part: string,
  body: ReadResult<unknown>,
  field: readonly string[],
): Fault[] {
  const faulty =
    path.faults.some((fault) => fault.loc[0] === part) ||
    body.faults.some((fault) => fault.loc.every((step, i) => step === field[i]));
  const sent = valueAt(body.value, field);
  if (faulty || sent === undefined || sent === valueAt(path.value, [part])) return [];
  return [{ loc: ['body', ...field], msg: 'Does not agree with the path', type: 'value_error' }];
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string, unknown>)[step]
        : undefined,
    value,
  );
}
