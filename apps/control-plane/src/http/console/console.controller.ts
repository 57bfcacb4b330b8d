import { All, Controller, Get, Header, Req, Res, StreamableFile } from '@nestjs/common';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/other-method.js';
import { Pages } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { ENTRY, readConsoleFiles } from './console-files.js';

const PATHS = ['/console', '/console/*path'];

const SECURITY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const YEAR_S = 31_536_000;

/** Serves the console. Its files are the same for everybody; what they show comes from the API, with a token. */
@Pages('console')
@Controller()
export class ConsoleController {
  private readonly files = readConsoleFiles();

  @Get(PATHS)
  @Header('Content-Security-Policy', SECURITY)
  @Header('Cross-Origin-Opener-Policy', 'same-origin')
  @Header('Cross-Origin-Resource-Policy', 'same-origin')
  @Header('Permissions-Policy', 'camera=(), geolocation=(), microphone=()')
  @Header('Referrer-Policy', 'no-referrer')
  @Header('X-Content-Type-Options', 'nosniff')
  file(@Req() request: Request, @Res({ passthrough: true }) response: Response): StreamableFile {
    const path = request.path.replace(/^\/console\/?/, '');
    const isHashed = path.startsWith('assets/');
    // The script finds out which page a path without a file is.
    const file = this.files.get(path) ?? (isHashed ? undefined : this.files.get(ENTRY));
    if (file === undefined) throw new RequestError('pathNotFound');
    const isGzipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    const content = isGzipped ? file.gzipped : file.content;
    response.setHeader(
      'Cache-Control',
      isHashed ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
    );
    response.setHeader('Vary', 'Accept-Encoding');
    if (isGzipped) response.setHeader('Content-Encoding', 'gzip');
    return new StreamableFile(content, { type: file.type, length: content.length });
  }

  /** Like `file`, it needs no token. */
  @All(PATHS)
  otherMethod(@Req() request: Request, @Res() response: Response): void {
    answerOtherMethod(request, response, ['GET']);
  }
}
