import { All, Controller, Get, Header, Req, Res, StreamableFile } from '@nestjs/common';
import { StartError } from '@weir/ops';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { RequestError } from '../errors/errors.js';
import { answerOtherMethod } from '../errors/unknown-path.controller.js';
import { Pages } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  readonly gzipped: Buffer;
}

/** Of the files that are served. Others, such as the licences of packages, name versions. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The file that every page of the console begins with. */
export const ENTRY = 'index.html';

/**
 * Reads the files of the console, a few hundred kilobytes, by their paths below `/console/`.
 * @throws StartError when the console was not built.
 */
export function readConsoleFiles(): ReadonlyMap<string, ConsoleFile> {
  const manifest = createRequire(import.meta.url).resolve('@weir/console/package.json');
  const folder = join(dirname(manifest), 'dist');
  try {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = paths.flatMap((path): [string, ConsoleFile][] => {
      const type = TYPES[extname(path)];
      if (type === undefined) return [];
      const content = readFileSync(join(folder, path));
      return [[path, { type, content, gzipped: gzipSync(content) }]];
    });
    return new Map(files);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new StartError(
      `${folder} is missing: build the console, or set MANAGEMENT_CONSOLE=false`,
    );
  }
}

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
