import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { RequestError } from '../errors/errors.js';
import type { Request, Response, Middleware } from '../routing/http.js';
import type { OpenApiDocument } from './document.js';

interface Page {
  readonly type: string;
  readonly content: string | Buffer;
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

const SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Serves `GET /openapi.json` and `/docs`, and passes on all other requests. */
export function serveDocs(document: OpenApiDocument): Middleware {
  const pages = createPages(document);
  return (request, response, next) => {
    const page = pages.get(request.path.replace(/\/$/, ''));
    if (page === undefined) next();
    else send(page, request, response);
  };
}

function createPages(document: OpenApiDocument): Map<string, Page> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const pages = new Map<string, Page>([
    [
      '/openapi.json',
      { type: 'application/json; charset=utf-8', content: JSON.stringify(document) },
    ],
    ['/docs', { type: TEXT, content: HTML }],
    ['/docs/start.js', { type: SCRIPT, content: START }],
  ]);
  for (const [name, type] of Object.entries(ASSETS)) {
    pages.set(`/docs/${name}`, { type, content: readFileSync(join(folder, name)) });
  }
  return pages;
}

function send({ type, content }: Page, request: Request, response: Response): void {
  const allow = 'GET, HEAD, OPTIONS';
  if (request.method === 'OPTIONS') {
    response.status(204).setHeader('Allow', allow).end();
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new RequestError('methodNotAllowed', undefined, { Allow: allow });
  }
  response.status(200).set({
    'Content-Type': type,
    'Content-Length': String(Buffer.byteLength(content)),
    'Content-Security-Policy': SECURITY,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}
