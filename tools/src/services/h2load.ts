import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { percentile } from '../percentile.js';

const run = promisify(execFile);

export interface HttpsLoadOptions {
  readonly port: number;
  /** A file with the path of one request per line. Each connection takes them in order, again and again. */
  readonly paths: string;
  readonly seconds: number;
  /** Requests per second; null: as fast as answers come. */
  readonly rate: number | null;
  readonly connections: number;
  /** Requests at a time of a connection. */
  readonly streams: number;
  /** A file that is written: a line for each answer, when there is a rate. */
  readonly log: string;
}

export interface HttpsLoadResult {
  /** Requests, without those that were open when the time was over. */
  readonly sent: number;
  /** Those that ended with a status 2xx. */
  readonly answered: number;
  readonly perSecond: number;
  /** Of all answers, without headers. */
  readonly bodyBytes: number;
  /** Latencies of all answers, in ms. Only with a rate. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** It was seen to wait for ever on a busy machine, with 64 connections at a steady rate. */
const HANGS_MS = 60_000;

/** Asks the server of 127.0.0.1 with h2load: GET over HTTP/2. Certificates are not verified. */
export async function loadHttps(options: HttpsLoadOptions): Promise<HttpsLoadResult> {
  const { port, paths, seconds, rate, connections, streams, log } = options;
  const args = ['-B', `https://127.0.0.1:${port}`, '-i', paths, '-D', String(seconds)];
  args.push('-c', String(connections), '-m', String(streams));
  if (rate !== null) args.push('--rps', String(rate / connections), '--log-file', log);
  const { stdout } = await run('h2load', args, { timeout: seconds * 1_000 + HANGS_MS });
  return readHttpsReport(stdout, rate === null ? '' : readFileSync(log, 'utf8'));
}

/** @throws Error when it is not the output of h2load */
export function readHttpsReport(output: string, log: string): HttpsLoadResult {
  const latencies: number[] = [];
  // Start of the request in µs, status, µs until the end of the answer.
  for (const [, microseconds] of log.matchAll(/^\d+\t\d+\t(\d+)$/gm)) {
    latencies.push(Number(microseconds) / 1000);
  }
  return {
    sent: read(output, /^requests: .* (\d+) done,/m),
    answered: read(output, /^requests: .* (\d+) succeeded,/m),
    perSecond: read(output, /^finished in .*, ([\d.]+) req\/s/m),
    bodyBytes: read(output, /^traffic: .*\((\d+)\) data$/m),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function read(output: string, pattern: RegExp): number {
  const value = pattern.exec(output)?.[1];
  if (value === undefined) throw new Error(`h2load printed no ${pattern.source}:\n${output}`);
  return Number(value);
}
