import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What the load generator reads from its command line. */
export interface GeneratorOptions {
  /** A query file (query-file.ts). */
  readonly file: string;
  readonly port: number;
  /** Null: once through the file. */
  readonly seconds: number | null;
  /** Queries per second; null: as fast as answers come. */
  readonly rate: number | null;
  /** Most queries without an answer. */
  readonly window: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly answered: number;
  readonly perSecond: number;
  /** RCODEs, with the number of answers. */
  readonly rcodes: Readonly<Record<string, number>>;
  /** Answers with the block page. */
  readonly blocked: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const GENERATOR = fileURLToPath(new URL('generator/main.js', import.meta.url));

/** Runs the load generator in a process of its own. */
export async function runLoad(options: GeneratorOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    GENERATOR,
    JSON.stringify(options),
  ]);
  return JSON.parse(stdout) as LoadResult;
}
