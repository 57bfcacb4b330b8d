import {
  All,
  Controller,
  Get,
  Header,
  type OnApplicationBootstrap,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/unknown-path.controller.js';
import { Endpoints, Pages } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { createDocument } from './document.js';

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Weir management API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** `validatorUrl: null`: the validator of Swagger UI would send the URL of the document to another server. */
const START = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null
});
`;

function asset(name: string): Buffer {
  const manifest = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');
  return readFileSync(join(dirname(manifest), name));
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** The OpenAPI document and the pages that show it, by path. They load nothing from other servers. */
const DOCS: Record<string, { type: string; read: (endpoints: Endpoints) => Buffer | string }> = {
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    read: (endpoints) => JSON.stringify(createDocument(endpoints.all())),
  },
  '/docs': { type: 'text/html; charset=utf-8', read: () => HTML },
  '/docs/start.js': { type: SCRIPT, read: () => START },
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', read: () => asset('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': { type: SCRIPT, read: () => asset('swagger-ui-bundle.js') },
  '/docs/favicon-32x32.png': { type: 'image/png', read: () => asset('favicon-32x32.png') },
};
const DOCS_PATHS = Object.keys(DOCS);

const SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

@Pages('docs')
@Controller()
export class DocsController implements OnApplicationBootstrap {
  private readonly contents = new Map<string, Buffer>();

  constructor(private readonly endpoints: Endpoints) {}

  /** When all endpoints are known. */
  onApplicationBootstrap(): void {
    for (const [path, { read }] of Object.entries(DOCS)) {
      this.contents.set(path, Buffer.from(read(this.endpoints)));
    }
  }

  @Get(DOCS_PATHS)
  @Header('Content-Security-Policy', SECURITY)
  @Header('X-Content-Type-Options', 'nosniff')
  page(@Req() request: Request): StreamableFile {
    const path = request.route?.path ?? '';
    const content = this.contents.get(path);
    if (content === undefined) throw new RequestError('pathNotFound');
    return new StreamableFile(content, { type: DOCS[path].type, length: content.length });
  }

  /** Like `page`, it needs no token when the pages are public. */
  @All(DOCS_PATHS)
  otherMethod(@Req() request: Request, @Res() response: Response): void {
    answerOtherMethod(request, response, ['GET']);
  }
}
