import { Ajv } from 'ajv';
import type {
  OpenApiDocument,
  OpenApiMessage,
  OpenApiOperation,
} from '../http/openapi/document.js';
import type { ValueSchema } from '../http/validation/rules.js';
import type { Answer } from './response.js';
import { RouteTable } from './route-table.js';

/** Checks requests and responses against the OpenAPI document that a control plane serves. */
export class OpenApiChecker {
  private readonly routes: RouteTable;
  private readonly ajv: Ajv;

  constructor(readonly document: OpenApiDocument) {
    this.routes = new RouteTable(
      this.operations().map(({ method, path }) => ({
        method,
        pattern: path.replace(/\{(\w+)\}/g, ':$1'),
      })),
    );
    // OpenAPI has formats and keywords of its own.
    this.ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
    this.ajv.addSchema(document, 'openapi');
  }

  operations(): { method: string; path: string; operation: OpenApiOperation }[] {
    return Object.entries(this.document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  }

  /** @throws Error when a response, or the body of a successful request, does not match the document. */
  check(method: string, path: string, body: unknown, answer: Answer): void {
    const bare = path.replace(/\?.*$/, '');
    if (method === 'HEAD' || method === 'OPTIONS' || /^\/(docs|openapi\.json)/.test(bare)) return;
    const found = this.routes.match(bare)?.route(method);
    const what = `${method} ${found?.route.pattern ?? 'elsewhere'} ${answer.status}`;
    if (!found) {
      if (![400, 401, 403, 404, 405].includes(answer.status)) throw new Error(`${what}?`);
      return;
    }
    const template = found.route.pattern.replace(/:(\w+)/g, '{$1}');
    const operation = this.document.paths[template]?.[method.toLowerCase()];
    const response = operation?.responses[answer.status];
    if (operation === undefined || response === undefined) {
      throw new Error(`${what} is not in the OpenAPI document`);
    }
    this.checkValue(`the answer of ${what}`, response.content, answer.body);
    if (answer.status < 300 && body !== undefined) {
      this.checkValue(`the body of ${what}`, operation.requestBody?.content, body);
    }
  }

  /** The example of a request body or a response; undefined when it has no body. */
  exampleOf(message: OpenApiMessage | undefined): unknown {
    const schema = message?.content?.['application/json']?.schema;
    return schema && this.exampleOfSchema(schema);
  }

  private exampleOfSchema(schema: ValueSchema): unknown {
    if (schema['type'] === 'array') return [this.exampleOfSchema(schema['items'] as ValueSchema)];
    const name = String(schema['$ref']).split('/').at(-1) ?? '';
    return (this.document.components.schemas[name] as ValueSchema)['example'];
  }

  /** @throws Error when the value does not match the schema of `content`. */
  checkValue(what: string, content: OpenApiMessage['content'], value: unknown): void {
    const schema = content?.['application/json']?.schema;
    if (schema === undefined) {
      if (value !== undefined) throw new Error(`${what} should be empty`);
      return;
    }
    if (!this.ajv.validate(absolute(schema), value)) {
      throw new Error(`${what} is not as documented: ${this.ajv.errorsText()}`);
    }
  }
}

/** References of the document, seen from outside of it. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
}

let checker: OpenApiChecker | undefined;

/**
 * The checker for all control planes under test, which serve the same document. Undefined until the first one has
 * started.
 */
export function openApiChecker(): OpenApiChecker | undefined {
  return checker;
}

export async function loadOpenApiChecker(
  baseUrl: string,
  headers: Record<string, string>,
): Promise<void> {
  if (checker !== undefined) return;
  const response = await fetch(`${baseUrl}/openapi.json`, { headers });
  if (response.ok) checker = new OpenApiChecker((await response.json()) as OpenApiDocument);
}
