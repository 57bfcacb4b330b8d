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
import { createDocument, type OpenApiDocument } from './document.js';

interface DocsPage {
  readonly type: string;
  readonly content: Buffer;
}

const TEXT = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Files of Swagger UI that the page needs. The page loads nothing from other servers. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
};

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

const DOCS_PATHS = [
  '/openapi.json',
  '/docs',
  '/docs/start.js',
  ...Object.keys(ASSETS).map((name) => `/docs/${name}`),
];

/** The OpenAPI document and the pages that show it, by path. */
function createDocsPages(document: OpenApiDocument): ReadonlyMap<string, DocsPage> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const page = (type: string, text: string): DocsPage => ({ type, content: Buffer.from(text) });
  const pages = new Map<string, DocsPage>([
    ['/openapi.json', page('application/json; charset=utf-8', JSON.stringify(document))],
    ['/docs', page(TEXT, HTML)],
    ['/docs/start.js', page(SCRIPT, START)],
  ]);
  for (const [name, type] of Object.entries(ASSETS)) {
    pages.set(`/docs/${name}`, { type, content: readFileSync(join(folder, name)) });
  }
  return pages;
}

const SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

@Pages('docs')
@Controller()
export class DocsController implements OnApplicationBootstrap {
  private pages: ReadonlyMap<string, DocsPage> = new Map();

  constructor(private readonly endpoints: Endpoints) {}

  /** When all endpoints are known. */
  onApplicationBootstrap(): void {
    this.pages = createDocsPages(createDocument(this.endpoints.all()));
  }

  @Get(DOCS_PATHS)
  @Header('Content-Security-Policy', SECURITY)
  @Header('X-Content-Type-Options', 'nosniff')
  page(@Req() request: Request): StreamableFile {
    const page = this.pages.get(request.route?.path ?? '');
    if (page === undefined) throw new RequestError('pathNotFound');
    return new StreamableFile(page.content, { type: page.type, length: page.content.length });
  }

  /** Like `page`, it needs no token when the pages are public. */
  @All(DOCS_PATHS)
  otherMethod(@Req() request: Request, @Res() response: Response): void {
    answerOtherMethod(request, response, ['GET']);
  }
}
