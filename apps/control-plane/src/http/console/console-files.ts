import { StartError } from '@weir/ops';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

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
