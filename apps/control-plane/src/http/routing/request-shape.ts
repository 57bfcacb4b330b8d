import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { prefixFaults, type Fault } from '../validation/fault.js';
import type { DtoClass } from '../validation/dto-class.js';
import { read, readList, type ReadResult } from '../validation/read-dto.js';

/** The path parameters and the body of an endpoint. */
export interface RequestShape {
  /** Class of the path parameters; undefined: the path has none. */
  readonly path?: DtoClass;
  /** Class of the body, in brackets for an array; undefined: the body is not read. */
  readonly body?: DtoClass | readonly [DtoClass];
  /** Class of a body that the controller reads as a stream: `@Body()` is an iterable of its bytes. */
  readonly streamed?: DtoClass;
  /**
   * Body fields that repeat a path parameter: `{ profile_id: ['profile', 'id'] }`. Both must be equal (decisions §1).
   */
  readonly repeats?: Readonly<Record<string, readonly string[]>>;
}

const REQUEST_SHAPE = 'weir:request';

/** Declares the request of an endpoint. `@Param()` and `@Body()` then give instances of the declared classes. */
export function ApiRequest(shape: RequestShape): MethodDecorator {
  return SetMetadata(REQUEST_SHAPE, shape);
}

/** The declared request of a handler; undefined: neither its path has parameters nor is its body read. */
export function requestShapeOf(handler: object): RequestShape | undefined {
  return Reflect.getMetadata(REQUEST_SHAPE, handler) as RequestShape | undefined;
}

/** The success response of an endpoint, and its errors besides those that any request may have. */
export interface ResponseShape {
  /** One line for people. */
  readonly summary: string;
  readonly status: 200 | 201 | 204;
  /** Class of the response body, in brackets for an array; undefined: the response has no body. */
  readonly body?: DtoClass | readonly [DtoClass];
  readonly errors?: readonly (404 | 409)[];
}

export const RESPONSE_SHAPE = 'weir:response';

/** Declares the response of an endpoint: sets its status in Nest, and documents it in OpenAPI. */
export function ApiResponse(shape: ResponseShape): MethodDecorator {
  return applyDecorators(SetMetadata(RESPONSE_SHAPE, shape), HttpCode(shape.status));
}

/** Declares a controller that is no part of the API, and is not in its document. */
export const NoEndpoint = Reflector.createDecorator<true>();

/** Path parameters by name, percent-decoded; null for invalid percent-encoding. */
export type PathParts = Readonly<Record<string, string | null>>;

/** The body of a request: absent, not JSON, too large to be parsed, a parsed value, or a stream to be read. */
export type SentBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/** What a client sent, not yet checked. */
export interface SentRequest {
  readonly pathParts: PathParts;
  readonly body: SentBody;
}

/** Reads the path and the body of a request by its shape. @returns both, with all their faults. */
export function readRequest(
  shape: RequestShape,
  sent: SentRequest,
): { path: unknown; body: unknown; faults: Fault[] } {
  const path = readPath(shape, sent);
  const body = readRequestBody(shape, sent);
  const faults = [...prefixFaults(['path'], path.faults), ...prefixFaults(['body'], body.faults)];
  for (const [part, field] of Object.entries(shape.repeats ?? {})) {
    faults.push(...mismatch(path, part, body, field));
  }
  return { path: path.value, body: body.value, faults };
}

function readPath(shape: RequestShape, { pathParts }: SentRequest): ReadResult<object> {
  if (shape.path === undefined) return { value: {}, faults: [] };
  const broken = Object.keys(pathParts).filter((name) => pathParts[name] === null);
  const reading = read(shape.path, { ...pathParts });
  const others = reading.faults.filter((fault) => !broken.includes(fault.loc[0] ?? ''));
  const msg = 'Invalid percent-encoding';
  return {
    value: reading.value,
    faults: [
      ...broken.map((name): Fault => ({ loc: [name], msg, type: 'value_error' })),
      ...others,
    ],
  };
}

const TOO_LARGE: Fault = {
  loc: [],
  msg: 'Too many values, or too many fields in one object, or nested too deeply',
  type: 'too_long',
};

function readRequestBody(shape: RequestShape, { body }: SentRequest): ReadResult<unknown> {
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
    case 'tooLarge':
      return { value: undefined, faults: [TOO_LARGE] };
    case 'json':
      return Array.isArray(shape.body)
        ? readList((shape.body as readonly [DtoClass])[0], body.value)
        : read(shape.body as DtoClass, body.value);
  }
}

function mismatch(
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
  return [
    { loc: ['body', ...field], msg: 'Must be equal to the path parameter', type: 'value_error' },
  ];
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
