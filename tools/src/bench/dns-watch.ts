import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DnsClient } from '../deployment/dns-client.js';

export interface WatchDnsOptions {
  readonly port: number;
  /** What is asked; unless given, another name each time, which has to be forwarded. */
  readonly qname?: string;
}

/** Result of a probe. */
export interface Watched {
  /** The longest answer, without the time for which this thread, ready to run, had no core. */
  readonly longestMs: number;
  /** The same with that time. */
  readonly longestWallMs: number;
  /** Answers that took longer than `LATE_MS`, without that time. */
  readonly late: number;
  readonly sentAgain: number;
}

const PAUSE_MS = 1;
/** Longest time that a large change may hold an answer up. */
const LATE_MS = 5;

/** Queries a resolver, one query after the other, in its own thread, until `end` is called. */
export function watchDns(options: WatchDnsOptions): { end(): Promise<Watched> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const watched = new Promise<Watched>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  return {
    end: () => {
      worker.postMessage('end');
      return watched;
    },
  };
}

async function watch({ port, qname }: WatchDnsOptions): Promise<void> {
  let [ends, longestMs, longestWallMs, late, sentAgain] = [false, 0, 0, 0, 0];
  parentPort?.once('message', () => {
    ends = true;
  });
  const client = new DnsClient();
  for (let n = 0; !ends; n++) {
    const [startedMs, waitedMs] = [performance.now(), coreWaitMs()];
    const { retries } = await client.ask('127.0.0.1', port, qname ?? `n${n}.example`);
    const wallMs = performance.now() - startedMs;
    const ms = wallMs - (coreWaitMs() - waitedMs);
    longestMs = Math.max(longestMs, ms);
    longestWallMs = Math.max(longestWallMs, wallMs);
    if (ms > LATE_MS) late++;
    sentAgain += retries;
    await sleep(PAUSE_MS);
  }
  await client.close();
  parentPort?.postMessage({ longestMs, longestWallMs, late, sentAgain } satisfies Watched);
}

/** For how long this thread was ready to run and had no core, by the kernel's account. */
function coreWaitMs(): number {
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
  return Number(waitedNs) / 1e6;
}

if (!isMainThread) await watch(workerData as WatchDnsOptions);
