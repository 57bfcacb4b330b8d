/*
 * Worker thread: makes one call after the other until it is told to stop, and then tells how long each took, in ms. The
 * thread that sends large bodies does not delay it. Its first calls connect and compile its own code, and do not count.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

export interface ProbedCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pauseMs: number;
}

const WARM_UP_CALLS = 100;

/** Begins when the calls count. @returns a function that stops them, and resolves to their latencies. */
export async function probeCall(call: ProbedCall): Promise<() => Promise<number[]>> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: call });
  await once(worker, 'message');
  return async () => {
    worker.postMessage('stop');
    const [latencies] = (await once(worker, 'message')) as [number[]];
    return latencies;
  };
}

async function probe({ url, headers, pauseMs }: ProbedCall): Promise<void> {
  let isDone = false;
  parentPort?.once('message', () => {
    isDone = true;
  });
  const makeCall = async (): Promise<number> => {
    const startedMs = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    return performance.now() - startedMs;
  };
  for (let i = 0; i < WARM_UP_CALLS; i++) await makeCall();
  parentPort?.postMessage('warm');
  const latencies: number[] = [];
  while (!isDone) {
    latencies.push(await makeCall());
    await sleep(pauseMs);
  }
  parentPort?.postMessage(latencies);
}

if (!isMainThread) await probe(workerData as ProbedCall);
