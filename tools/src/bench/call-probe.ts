/*
 * Worker thread: makes one call after the other until it is told to stop, and then tells how long each took, in ms. The
 * thread that sends large bodies does not delay it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

export interface ProbedCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pauseMs: number;
}

/** @returns a function that stops the calls, and resolves to their latencies. */
export function probeCall(call: ProbedCall): () => Promise<number[]> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: call });
  const latencies = new Promise<number[]>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  return () => {
    worker.postMessage('stop');
    return latencies;
  };
}

async function probe({ url, headers, pauseMs }: ProbedCall): Promise<void> {
  let isDone = false;
  parentPort?.once('message', () => {
    isDone = true;
  });
  const latencies: number[] = [];
  while (!isDone) {
    const startedMs = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    latencies.push(performance.now() - startedMs);
    await sleep(pauseMs);
  }
  parentPort?.postMessage(latencies);
}

if (!isMainThread) await probe(workerData as ProbedCall);
