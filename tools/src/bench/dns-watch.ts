import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DnsClient } from '../deployment/dns-client.js';

/** Result of a probe: the longest answer in ms, and the number of retries. */
export interface Watched {
  readonly longestMs: number;
  readonly sentAgain: number;
}

const PAUSE_MS = 1;

/** Queries a resolver, one query after the other, in its own thread, until `end` is called. */
export function watchDns(port: number): { end(): Promise<Watched> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: { port } });
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

async function watch(port: number): Promise<void> {
  let [ends, longestMs, sentAgain] = [false, 0, 0];
  parentPort?.once('message', () => {
    ends = true;
  });
  const client = new DnsClient();
  for (let n = 0; !ends; n++) {
    const startedMs = performance.now();
    const { retries } = await client.ask('127.0.0.1', port, `n${n}.example`);
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    sentAgain += retries;
    await sleep(PAUSE_MS);
  }
  await client.close();
  parentPort?.postMessage({ longestMs, sentAgain } satisfies Watched);
}

if (!isMainThread) await watch((workerData as { port: number }).port);
