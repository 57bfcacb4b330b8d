/*
 * Sends the queries of a file to a UDP port of 127.0.0.1 and counts the answers. Started by ../run-load.ts; the options
 * come as JSON. It prints one JSON object. It sends and receives in batches, so that it is not slower than the server.
 */
import { loadSystemCalls } from '@weir/udp-batch';
import { readFileSync } from 'node:fs';
import { percentile } from '../../../percentile.js';
import type { GeneratorOptions, LoadResult } from '../measure-load.js';
import { Client, QueryReader } from './client.js';

const SOCKETS = 8;
/** Rest of a turn in which nothing was received or sent. */
const NAP_MS = 0.05;
const DRAIN_MS = 1_000;
const NAPS = new Int32Array(new SharedArrayBuffer(4));

const [text = ''] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(run(JSON.parse(text) as GeneratorOptions))}\n`);

function run({ file, port, seconds, rate, window }: GeneratorOptions): LoadResult {
  const calls = loadSystemCalls();
  const reader = new QueryReader(readFileSync(file));
  const client = new Client(calls, SOCKETS, port);
  const total = seconds === null ? reader.count : Infinity;
  const startedMs = performance.now();
  const endMs = seconds === null ? Infinity : startedMs + seconds * 1_000;
  let nowMs = startedMs;
  while (nowMs < endMs && client.sent < total) {
    const received = client.receive(nowMs);
    const due = rate === null ? Infinity : ((nowMs - startedMs) * rate) / 1_000 - client.sent;
    const room = Math.min(window - client.outstanding, due, total - client.sent);
    const sent = client.send(reader, Math.floor(room), nowMs);
    if (received === 0 && sent === 0) nap();
    client.giveUpOld(nowMs);
    nowMs = performance.now();
  }
  const sentMs = nowMs - startedMs;
  const drainedMs = nowMs + DRAIN_MS;
  while (client.outstanding > 0 && nowMs < drainedMs) {
    if (client.receive(nowMs) === 0) nap();
    nowMs = performance.now();
  }
  const { sent, answered, rcodes, blocked, latenciesMs } = client;
  client.close();
  return {
    sent,
    answered,
    perSecond: (answered * 1_000) / sentMs,
    rcodes: Object.fromEntries(rcodes),
    blocked,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  };
}

function nap(): void {
  Atomics.wait(NAPS, 0, 0, NAP_MS);
}
