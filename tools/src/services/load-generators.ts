import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { percentile } from '../figures.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 2 ** 30;

/** What a load generator saw. */
export interface LoadResult {
  /** Over HTTPS without the queries that were open when the time was over. */
  readonly sent: number;
  /** Over HTTPS: with a status 2xx. */
  readonly answered: number;
  readonly perSecond: number;
  /** Answers with an RCODE other than NOERROR. Over HTTPS: as many as make the size of all answers a wrong one. */
  readonly errors: number;
  /** Latencies of all answers, in ms. Only with a rate. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface DnsLoadOptions {
  readonly port: number;
  /** A file with one query per line: name and type. */
  readonly queries: string;
  readonly seconds: number;
  /** Queries per second; null: as fast as answers come. */
  readonly rate: number | null;
  /** Default: UDP. Certificates are not verified. */
  readonly transport?: 'udp' | 'tcp' | 'dot';
  /** Sockets of dnsperf. Default: 8. */
  readonly clients?: number;
  /** Without an answer within this time a query is lost. */
  readonly timeoutSeconds?: number;
}

const CLIENTS = 8;
const OUTSTANDING = 200;

/** Asks the server of 127.0.0.1 with dnsperf. */
export async function loadDns(options: DnsLoadOptions): Promise<LoadResult> {
  const { port, queries, seconds, rate, timeoutSeconds = 2, clients = CLIENTS } = options;
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', queries, '-l', String(seconds)];
  args.push('-m', options.transport ?? 'udp', '-t', String(timeoutSeconds));
  args.push('-c', String(clients), '-q', String(OUTSTANDING));
  // With -v it prints a line per answer, which costs it too much at full load.
  if (rate !== null) args.push('-Q', String(rate), '-v');
  // It may exit with 1 when queries were lost; the output has the number.
  const { stdout } = await run('dnsperf', args, { maxBuffer: MAX_OUTPUT_BYTES }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  return readDnsperf(stdout);
}

/** @throws Error when it is not the output of dnsperf */
export function readDnsperf(output: string): LoadResult {
  const answered = read(output, /Queries completed:\s+(\d+)/);
  const good = /Response codes:.* NOERROR (\d+)/.exec(output)?.[1] ?? 0;
  return {
    answered,
    sent: read(output, /Queries sent:\s+(\d+)/),
    perSecond: read(output, /Queries per second:\s+([\d.]+)/),
    errors: answered - Number(good),
    // "> NOERROR www.example.com A 0.000123"
    ...latenciesOf(output, /^> \S+ \S+ \S+ ([\d.]+)$/gm, 1_000),
  };
}

interface HttpsLoadOptions {
  readonly port: number;
  /** A file with the path of one request per line. Each connection takes them in order, again and again. */
  readonly paths: string;
  readonly seconds: number;
  /** Requests per second; null: as fast as answers come. */
  readonly rate: number | null;
  readonly connections: number;
  /** Requests at a time of a connection. */
  readonly streams: number;
  /** The size of the body of each right answer. */
  readonly answerBytes: number;
  /** A file that is written: a line for each answer, when there is a rate. */
  readonly log: string;
}

/** It was seen to wait for ever on a busy machine, with 64 connections at a steady rate. */
const HANGS_MS = 60_000;

/** Asks the server of 127.0.0.1 with h2load: GET over HTTP/2. Certificates are not verified. */
export async function loadHttps(options: HttpsLoadOptions): Promise<LoadResult> {
  const { port, paths, seconds, rate, connections, streams, answerBytes, log } = options;
  const args = ['-B', `https://127.0.0.1:${port}`, '-i', paths, '-D', String(seconds)];
  args.push('-c', String(connections), '-m', String(streams));
  if (rate !== null) args.push('--rps', String(rate / connections), '--log-file', log);
  const { stdout } = await run('h2load', args, { timeout: seconds * 1_000 + HANGS_MS });
  return readH2load(stdout, rate === null ? '' : readFileSync(log, 'utf8'), answerBytes);
}

/** @throws Error when it is not the output of h2load */
export function readH2load(output: string, log: string, answerBytes: number): LoadResult {
  const answered = read(output, /^requests: .* (\d+) succeeded,/m);
  const bodyBytes = read(output, /^traffic: .*\((\d+)\) data$/m);
  return {
    answered,
    sent: read(output, /^requests: .* (\d+) done,/m),
    perSecond: read(output, /^finished in .*, ([\d.]+) req\/s/m),
    errors: Math.ceil(Math.abs(bodyBytes / answerBytes - answered)),
    // Start of the request in µs, status, µs until the end of the answer.
    ...latenciesOf(log, /^\d+\t\d+\t(\d+)$/gm, 1 / 1_000),
  };
}

function latenciesOf(output: string, line: RegExp, toMs: number) {
  const latencies = Array.from(output.matchAll(line), ([, latency]) => Number(latency) * toMs);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}

function read(output: string, pattern: RegExp): number {
  const value = pattern.exec(output)?.[1];
  if (value === undefined) throw new Error(`no ${pattern.source} was printed:\n${output}`);
  return Number(value);
}
