import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { percentile } from '../percentile.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 2 ** 30;

/** For some seconds, at a rate or as fast as answers come (null); or once through the file, at a rate. */
export type Pace =
  | { readonly kind: 'timed'; readonly seconds: number; readonly rate: number | null }
  | { readonly kind: 'once'; readonly rate: number };

export interface LoadOptions {
  readonly port: number;
  /** A file with one query per line: name and type. */
  readonly queries: string;
  readonly pace: Pace;
  /** Default: UDP. Certificates are not verified. */
  readonly transport?: 'udp' | 'tcp' | 'dot';
  /** Sockets of dnsperf. Default: 8. */
  readonly clients?: number;
  /** Without an answer within this time a query is lost. */
  readonly timeoutSeconds?: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly answered: number;
  readonly perSecond: number;
  /** RCODEs, with the number of answers. */
  readonly rcodes: Readonly<Record<string, number>>;
  /** Latencies of all answers, in ms. Only with a rate. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CLIENTS = 8;
const OUTSTANDING = 200;

/** Asks the server of 127.0.0.1 with dnsperf. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { port, queries, pace, timeoutSeconds = 2, clients = CLIENTS } = options;
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', queries];
  args.push('-m', options.transport ?? 'udp', '-t', String(timeoutSeconds));
  args.push('-c', String(clients), '-q', String(OUTSTANDING));
  args.push(...(pace.kind === 'once' ? ['-n', '1'] : ['-l', String(pace.seconds)]));
  // With -v it prints a line per answer, which costs it too much at full load.
  if (pace.rate !== null) args.push('-Q', String(pace.rate), '-v');
  // It may exit with 1 when queries were lost; the output has the number.
  const { stdout } = await run('dnsperf', args, { maxBuffer: MAX_OUTPUT_BYTES }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  return readReport(stdout);
}

/** @throws Error when it is not the output of dnsperf */
export function readReport(output: string): LoadResult {
  const latencies: number[] = [];
  // "> NOERROR www.example.com A 0.000123"
  for (const [, seconds] of output.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)) {
    latencies.push(Number(seconds) * 1000);
  }
  return {
    sent: read(output, /Queries sent:\s+(\d+)/),
    answered: read(output, /Queries completed:\s+(\d+)/),
    perSecond: read(output, /Queries per second:\s+([\d.]+)/),
    rcodes: readRcodes(output),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function read(output: string, pattern: RegExp): number {
  const value = pattern.exec(output)?.[1];
  if (value === undefined) throw new Error(`dnsperf printed no ${pattern.source}:\n${output}`);
  return Number(value);
}

function readRcodes(output: string): Record<string, number> {
  const line = /Response codes:\s+(.*)/.exec(output)?.[1] ?? '';
  const codes = line.matchAll(/([A-Z]+) (\d+)/g);
  return Object.fromEntries(Array.from(codes, ([, code = '', count]) => [code, Number(count)]));
}
