import { StartError } from '@weir/ops';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CopyLines } from './copy-lines.js';
import { type Manifest, parseManifest, parseSection, type Section } from './manifest.js';
import { RowProgress } from './row-progress.js';

/** A table of a backup. Its rows must be read to their end before the next table. */
export interface BackupTable extends Section {
  /** Lines in the text format of COPY, in chunks of any size. */
  readonly rows: AsyncIterable<Buffer>;
}

/** Reads a backup once, from start to end. */
export class BackupReader {
  private constructor(
    readonly manifest: Manifest,
    private readonly lines: CopyLines,
    private readonly log: (line: string) => void,
  ) {}

  /** @throws StartError when the file is no backup; an error of the file system when it cannot be read. */
  static async open(file: string, log: (line: string) => void): Promise<BackupReader> {
    const unzipped = createGunzip();
    pipeline(createReadStream(file), unzipped, () => undefined);
    const lines = new CopyLines(readable(unzipped));
    return new BackupReader(parseManifest((await lines.line()) ?? ''), lines, log);
  }

  /** @throws StartError when the file is damaged or incomplete, at the latest after the last table. */
  async *tables(): AsyncGenerator<BackupTable> {
    const found: Record<string, number> = {};
    for (;;) {
      const line = await this.lines.line();
      if (line === null) throw new StartError('it is not whole');
      const part = parseSection(line);
      if ('rows' in part) {
        verifyCounts(found, part.rows);
        break;
      }
      const progress = new RowProgress(part.table, this.log);
      yield { ...part, rows: counted(this.lines.rows(), progress) };
      found[part.table] = progress.count;
    }
    if ((await this.lines.line()) !== null) throw new StartError('it goes on behind its end');
  }
}

async function* counted(
  rows: AsyncIterable<Buffer>,
  progress: RowProgress,
): AsyncGenerator<Buffer> {
  for await (const piece of rows) {
    progress.pass(piece);
    yield piece;
  }
}

/** zlib's messages do not mention the file. */
async function* readable(unzipped: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  try {
    for await (const piece of unzipped) yield piece as Buffer;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!(code ?? '').startsWith('Z_')) throw error;
    throw new StartError(`it is damaged or no backup of Weir (${message})`, { cause: error });
  }
}

function verifyCounts(
  found: Readonly<Record<string, number>>,
  noted: Readonly<Record<string, number>>,
): void {
  for (const table of new Set([...Object.keys(found), ...Object.keys(noted)])) {
    if (found[table] === noted[table]) continue;
    throw new StartError(
      `it has ${found[table] ?? 0} rows of ${table} instead of ${noted[table] ?? 0}`,
    );
  }
}
