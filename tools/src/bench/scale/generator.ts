/*
 * Sends the queries of a file to a UDP port of 127.0.0.1 and counts the answers. It tells its result.
 * It sends and receives in batches, so that it is not slower than the server.
 */
import {
  BATCH,
  BatchReceiver,
  BatchSender,
  loadSystemCalls,
  MSG_DONTWAIT,
  routeTo,
  UdpSocket,
} from '@weir/udp-batch';
import { readFileSync } from 'node:fs';
import { percentile } from '../../figures.js';
import { helperArgument, tellMain } from '../../services/helper.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import {
  BALANCER,
  type GeneratorOptions,
  type GeneratorResult,
  RECORD_HEADER_BYTES,
} from './load.js';

const SOCKETS = 8;
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;
const IDS = 65_536;
/** A query without an answer after this time counts as lost. */
const LOST_AFTER_MS = 2_000;
/** When nothing was received or sent. */
const NAP_MS = 0.05;
const DRAIN_MS = 1_000;
const NAPS = new Int32Array(new SharedArrayBuffer(4));
const BLOCK_BYTES = BLOCK_ADDRESS.split('.').map(Number);

const { file, port, seconds, rate, window } = helperArgument() as GeneratorOptions;
const records = readFileSync(file);
/** Where each record begins. */
const starts: number[] = [];
for (let at = 0; at < records.length; at += RECORD_HEADER_BYTES + records.readUInt16LE(at)) {
  starts.push(at);
}
const calls = loadSystemCalls();
const route = routeTo('127.0.0.1', port);
const sockets = Array.from({ length: SOCKETS }, () => {
  const options = { host: BALANCER, port: 0, receiveBufferBytes: RECEIVE_BUFFER_BYTES };
  const socket = UdpSocket.open(calls, options);
  return {
    receiver: new BatchReceiver(calls, socket),
    sender: new BatchSender(calls, socket, MSG_DONTWAIT),
  };
});

let [sent, answered, errors, blocked, outstanding] = [0, 0, 0, 0, 0];
const latenciesMs: number[] = [];
/** When the query with this id was sent; 0: none is without an answer. */
const sentMs = new Float64Array(IDS);
/** All queries before this one are answered or lost. */
let oldest = 0;
let batches = 0;

/** Sends at most `limit` queries, all from one socket. */
function send(limit: number, nowMs: number): void {
  const { sender } = sockets[batches++ % SOCKETS];
  for (let i = 0; i < Math.min(limit, BATCH); i++) {
    const id = sent % IDS;
    const at = starts[sent++ % starts.length];
    const start = at + RECORD_HEADER_BYTES;
    const length = records.readUInt16LE(at);
    records.writeUInt16BE(id, start + records.readUInt16LE(at + 2));
    // The one before it with this id counts as lost.
    if (sentMs[id] === 0) outstanding++;
    sentMs[id] = nowMs;
    sender.queue(route, records.subarray(start, start + length), length);
  }
  // A query that the kernel does not take is one without an answer.
  sender.flush(() => undefined);
}

/** @returns the number of datagrams that have arrived */
function receive(nowMs: number): number {
  let received = 0;
  for (const { receiver } of sockets) {
    const count = receiver.receive(MSG_DONTWAIT);
    for (let slot = 0; slot < count; slot++) {
      take(receiver.bytesOf(slot), receiver.lengthOf(slot), nowMs);
    }
    received += count;
  }
  return received;
}

function take(bytes: Uint8Array, length: number, nowMs: number): void {
  const id = (bytes[0] << 8) | bytes[1];
  const askedMs = sentMs[id];
  if (askedMs === 0) return; // late
  sentMs[id] = 0;
  outstanding--;
  answered++;
  latenciesMs.push(nowMs - askedMs);
  if ((bytes[3] & 0x0f) !== 0) errors++;
  // The answer to a query without EDNS ends with its last address.
  const last = length - BLOCK_BYTES.length;
  if (BLOCK_BYTES.every((byte, i) => bytes[last + i] === byte)) blocked++;
}

/** Forgets queries that have waited too long, so that others can be sent. */
function giveUpOld(nowMs: number): void {
  for (; oldest < sent; oldest++) {
    const askedMs = sentMs[oldest % IDS];
    if (askedMs !== 0 && nowMs - askedMs < LOST_AFTER_MS) return;
    if (askedMs !== 0) outstanding--;
    sentMs[oldest % IDS] = 0;
  }
}

const nap = (): unknown => Atomics.wait(NAPS, 0, 0, NAP_MS);
const total = seconds === null ? starts.length : Infinity;
const startedMs = performance.now();
const endMs = seconds === null ? Infinity : startedMs + seconds * 1_000;
let nowMs = startedMs;
while (nowMs < endMs && sent < total) {
  const received = receive(nowMs);
  const due = rate === null ? Infinity : ((nowMs - startedMs) * rate) / 1_000 - sent;
  const room = Math.floor(Math.min(window - outstanding, due, total - sent));
  if (room > 0) send(room, nowMs);
  else if (received === 0) nap();
  giveUpOld(nowMs);
  nowMs = performance.now();
}
const tookMs = nowMs - startedMs;
const drainedMs = nowMs + DRAIN_MS;
while (outstanding > 0 && nowMs < drainedMs) {
  if (receive(nowMs) === 0) nap();
  nowMs = performance.now();
}
tellMain({
  ...{ sent, answered, errors, blocked },
  perSecond: (answered * 1_000) / tookMs,
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
} satisfies GeneratorResult);
