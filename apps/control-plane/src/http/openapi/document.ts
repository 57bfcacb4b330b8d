import { readVersion } from '@weir/ops';
import { type Endpoint, READING } from '../routing/endpoint.js';
import { type DtoClass, exampleOf } from '../validation/dto.js';
import { fieldsOf, type Field } from '../validation/fields.js';
import { type ValueSchema, MAX_ITEMS } from '../validation/rules.js';
import { ERROR_SCHEMAS, errorResponsesOf } from './error-responses.js';

/** Whether a schema describes a request or a response. In a response, every field is present. */
type Direction = 'request' | 'answer';

/** OpenAPI 3.0 has no type of its own for null. */
const NULL = { type: 'object', nullable: true, enum: [null] };

/** The named schemas of classes, made from the fields that validation reads. */
class ComponentSchemas {
  readonly schemas: Record<string, ValueSchema> = {};
  private readonly owners = new Map<string, DtoClass>();

  /** A reference to the schema of a class, or of an array of it. @throws Error when two classes have the same name. */
  refer(type: DtoClass | readonly [DtoClass], direction: Direction): ValueSchema {
    if (Array.isArray(type)) {
      const items = this.refer((type as readonly [DtoClass])[0], direction);
      return { type: 'array', items, ...(direction === 'request' && { maxItems: MAX_ITEMS }) };
    }
    const one = type as DtoClass;
    const name = nameOf(one, direction);
    const owner = this.owners.get(name) ?? one;
    if (owner !== one) throw new Error(`two classes are called ${name}`);
    if (!this.owners.has(name)) {
      this.owners.set(name, one);
      this.schemas[name] = this.describe(one, direction);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private describe(type: DtoClass, direction: Direction): ValueSchema {
    const fields = fieldsOf(type);
    const defaults = new type() as Record<string, unknown>;
    const required = fields.filter((field) =>
      direction === 'answer' ? !field.maybeAbsent : field.required,
    );
    return {
      type: 'object',
      additionalProperties: false,
      ...(required.length > 0 && { required: required.map(({ name }) => name) }),
      properties: Object.fromEntries(
        fields.map((field) => [
          field.name,
          this.property(
            field,
            direction,
            direction === 'answer' ? undefined : defaults[field.name],
          ),
        ]),
      ),
      example: exampleOf(type),
    };
  }

  private property(
    { schema, type, isList }: Field,
    direction: Direction,
    defaultValue: unknown,
  ): ValueSchema {
    if (type !== undefined && isList) return { ...schema, items: this.refer(type, direction) };
    if (type !== undefined) {
      const one = this.refer(type, direction);
      return schema['nullable'] === true ? { anyOf: [one, NULL] } : one;
    }
    return defaultValue === undefined ? schema : { ...schema, default: defaultValue };
  }
}

/**
 * `ProfileDto` is `Profile` in requests. In responses it is `ProfileAnswer` if some of its fields are optional in
 * requests.
 */
function nameOf(type: DtoClass, direction: Direction): string {
  const name = type.name.replace(/Dto$/, '');
  return direction === 'answer' && mayOmit(type) ? `${name}Answer` : name;
}

function mayOmit(type: DtoClass): boolean {
  return fieldsOf(type).some((field) => !field.required || (field.type && mayOmit(field.type)));
}

/** An OpenAPI 3.0 document: the parts that are read here and in tests. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface OpenApiOperation {
  readonly tags: readonly string[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly responses: Readonly<Record<string, OpenApiMessage>>;
  readonly requestBody?: OpenApiMessage;
}

interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  /** Undefined for one that the example request does not have. */
  readonly example?: unknown;
}

export interface OpenApiMessage {
  readonly required?: boolean;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: ValueSchema }>>;
}

const REQUEST_ID = {
  description:
    'That of the request, if it has one of 1 to 64 letters, digits, dots, underscores and hyphens; otherwise a UUID. ' +
    'It is in the record of the change, and in the log',
  schema: { type: 'string' },
};

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
      headers: { 'X-Request-Id': REQUEST_ID },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ bearer: [] }],
  } as OpenApiDocument;
}

function describeOperation(endpoint: Endpoint, components: ComponentSchemas): OpenApiOperation {
  const { method, pattern, path, query, summary, status, scope, tag, dryRun } = endpoint;
  const body = endpoint.body ?? endpoint.streamed;
  const about = endpoint.description === undefined ? '' : `${endpoint.description} `;
  const parameters = [
    ...(path ? describeParameters(path, 'path') : []),
    ...(query ? describeParameters(query, 'query') : []),
  ];
  return {
    operationId: operationIdOf(method, pattern),
    summary,
    description: `${about}Needs a token with scope \`${scope}\`${dryRun ? ', or `read` for a dry run' : ''}.`,
    tags: [tag ?? pattern.split('/')[1] ?? ''],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, ...content(components.refer(body, 'request')) } }),
    responses: withRequestId({
      [status]: describeSuccess(endpoint, components),
      ...(dryRun && {
        200: {
          description: 'With `dry_run=true`: what the call would change',
          headers: { 'X-Config-Revision': REVISION },
          ...content(components.refer(dryRun, 'answer')),
        },
      }),
      ...errorResponsesOf(endpoint),
    }),
  } as OpenApiOperation;
}

function withRequestId(
  responses: Readonly<Record<string, OpenApiMessage>>,
): Record<string, OpenApiMessage> {
  const id = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, headers: { ...id, ...response.headers } },
    ]),
  );
}

/** `GET /net/:int_ip` is `getNetInt_ip`. */
function operationIdOf(method: string, pattern: string): string {
  const words = pattern.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `${method.toLowerCase()}${words.replace(/\W/g, '')}`;
}

function describeParameters(type: DtoClass, place: OpenApiParameter['in']): OpenApiParameter[] {
  const example = exampleOf(type) as Readonly<Record<string, unknown>>;
  const defaults = new type() as Readonly<Record<string, unknown>>;
  return fieldsOf(type).map(({ name, schema, required }) => ({
    name,
    in: place,
    required,
    schema: defaults[name] === undefined ? schema : { ...schema, default: defaults[name] },
    ...(example[name] !== undefined && { example: example[name] }),
  }));
}

const REVISION = {
  description: 'The revision that the change made, or that was read',
  schema: { type: 'integer', minimum: 0 },
};

function describeSuccess(
  { method, summary, answer, tag, streams, headers: own }: Endpoint,
  components: ComponentSchemas,
): OpenApiMessage {
  const applied = {
    description: 'Live resolvers that have applied the change, of all live resolvers: 3/3',
    schema: { type: 'string', pattern: '^\\d+/\\d+$' },
  };
  const isChange = method !== 'GET';
  const headers = {
    ...(tag === READING && !isChange ? {} : { 'X-Config-Revision': REVISION }),
    ...(isChange && { 'X-Config-Applied': applied }),
    ...own,
  };
  if (answer === undefined) return { description: summary, headers };
  const described = content(components.refer(answer, 'answer'));
  if (streams) described.content['text/event-stream'] = { schema: { type: 'string' } };
  return { description: summary, headers, ...described };
}

function content(schema: ValueSchema): { content: Record<string, { schema: ValueSchema }> } {
  return { content: { 'application/json': { schema } } };
}
