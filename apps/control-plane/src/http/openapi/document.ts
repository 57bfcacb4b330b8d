import { readVersion } from '@weir/ops';
import type { Endpoint } from '../routing/endpoints.js';
import type { RequestShape } from '../routing/request-shape.js';
import type { ValueSchema } from '../validation/rule-context.js';
import { exampleOf } from '../validation/examples.js';
import { fieldsOf } from '../validation/fields-of.js';
import type { DtoClass } from '../validation/dto-class.js';
import { ERROR_SCHEMAS, errorResponsesOf } from './error-responses.js';
import { ComponentSchemas } from './schemas.js';

/** An OpenAPI 3.0 document: the parts that are read here and in tests. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly example: unknown }[];
  readonly responses: Readonly<Record<string, OpenApiMessage>>;
  readonly requestBody?: OpenApiMessage;
}

/** A request body or a response. */
export interface OpenApiMessage {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: ValueSchema }>>;
}

const DESCRIPTION = `Filtering configuration of subscribers. Every change is in force on every resolver when the call
returns: \`X-Config-Revision\` is its revision, and \`X-Config-Applied\` says how many of the live resolvers have
applied it. Every request is applied completely or not at all.`;

/** The management API as an OpenAPI document, made from the declarations that routing and validation use. */
export function createDocument(endpoints: readonly Endpoint[]): OpenApiDocument {
  const version = readVersion(new URL('../../../../../package.json', import.meta.url), {});
  const components = new ComponentSchemas();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.pattern.replace(/:(\w+)/g, '{$1}');
    const operations = (paths[path] ??= {});
    operations[endpoint.method.toLowerCase()] = describeOperation(endpoint, components);
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Weir management API', version, description: DESCRIPTION },
    paths,
    components: {
      schemas: { ...components.schemas, ...ERROR_SCHEMAS },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ bearer: [] }],
  } as OpenApiDocument;
}

function describeOperation(endpoint: Endpoint, components: ComponentSchemas): OpenApiOperation {
  const { method, pattern, request, response, scope } = endpoint;
  const body = request.body ?? request.streamed;
  return {
    operationId: operationIdOf(method, pattern),
    summary: response.summary,
    description: `Needs a token with scope \`${scope}\`.`,
    tags: [pattern.split('/')[1] ?? ''],
    ...(request.path && { parameters: describePath(request.path) }),
    ...(body && { requestBody: describeBody(body, components) }),
    responses: {
      [response.status]: describeSuccess(endpoint, components),
      ...errorResponsesOf(endpoint),
    },
  } as OpenApiOperation;
}

/** `GET /net/:int_ip` is `getNetInt_ip`. */
function operationIdOf(method: string, pattern: string): string {
  const words = pattern.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `${method.toLowerCase()}${words.replace(/\W/g, '')}`;
}

function describePath(path: DtoClass): object[] {
  const example = exampleOf(path) as Readonly<Record<string, unknown>>;
  return fieldsOf(path).map(({ name, schema }) => ({
    name,
    in: 'path',
    required: true,
    schema,
    example: example[name],
  }));
}

function describeBody(
  body: NonNullable<RequestShape['body']>,
  components: ComponentSchemas,
): object {
  const schema = components.refer(body, 'request');
  return { required: true, content: { 'application/json': { schema } } };
}

function describeSuccess({ method, response }: Endpoint, components: ComponentSchemas): object {
  const integer = { schema: { type: 'integer', minimum: 0 } };
  const revision = {
    description: 'The revision that the change made, or that was read',
    ...integer,
  };
  const applied = {
    description: 'Live resolvers that have applied the change, of all live resolvers: 3/3',
    schema: { type: 'string', pattern: '^\\d+/\\d+$' },
  };
  const headers = {
    'X-Config-Revision': revision,
    ...(method === 'GET' ? {} : { 'X-Config-Applied': applied }),
  };
  if (response.body === undefined) return { description: response.summary, headers };
  const schema = components.refer(response.body, 'answer');
  return { description: response.summary, headers, content: { 'application/json': { schema } } };
}
