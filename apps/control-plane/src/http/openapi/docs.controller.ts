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
import { Docs } from '../callers/docs.js';
import { RequireScope } from '../callers/require-scope.js';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/other-method.js';
import { Endpoints } from '../routing/endpoints.js';
import type { Request, Response } from '../routing/http.js';
import { NoEndpoint } from '../routing/request-shape.js';
import { createDocsPages, DOCS_PATHS, type DocsPage } from './docs-pages.js';
import { createDocument } from './document.js';

const SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** Serves `GET /openapi.json` and `/docs`. */
@Docs(true)
@NoEndpoint(true)
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
  @RequireScope('read')
  otherMethod(@Req() request: Request, @Res() response: Response): void {
    answerOtherMethod(request, response, ['GET']);
  }
}
