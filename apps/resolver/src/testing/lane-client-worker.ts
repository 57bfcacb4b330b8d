/*
 * A worker thread that plays one client of a resolver. It sends each packet that often, one after the other, and counts
 * the right answers in a word that the parent waits on: the thread of the resolver under test may be blocked.
 */
import { createSocket } from 'node:dgram';
import { workerData } from 'node:worker_threads';

export interface LaneClient {
  readonly address: string;
  readonly port: number;
  /** Each with the last bytes of the right answer. */
  readonly queries: readonly { readonly packet: Uint8Array; readonly end: Uint8Array }[];
  readonly rounds: number;
  /** Word 0: what the client may do (1: ask). Word 1: right answers. Word 2: wrong ones. */
  readonly words: Int32Array;
}

const { address, port, queries, rounds, words } = workerData as LaneClient;

/** A datagram may be lost. */
const AGAIN_MS = 10_000;

const socket = createSocket('udp4');
const total = queries.length * rounds;
let done = 0;
let timer: NodeJS.Timeout | undefined;

function ask(): void {
  clearTimeout(timer);
  if (done === total) {
    socket.close();
    return;
  }
  const { packet } = queries[done % queries.length];
  packet[0] = done >>> 8;
  packet[1] = done & 0xff;
  socket.send(packet, port, address);
  timer = setTimeout(ask, AGAIN_MS);
}

socket.on('message', (answer) => {
  if (answer.readUInt16BE(0) !== (done & 0xffff)) return;
  const { end } = queries[done % queries.length];
  const isRight = Buffer.compare(answer.subarray(-end.length), end) === 0;
  Atomics.add(words, isRight ? 1 : 2, 1);
  Atomics.notify(words, 1);
  done++;
  ask();
});
Atomics.wait(words, 0, 0);
ask();
