import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DnsClient } from '../deployment/dns-client.js';
import { measureLatencies } from './figures.js';
import { nextPage, withDeployment } from './deployment.js';

const BLOCKED = 'blocked.example';
const QUERY_PAUSE_MS = 1;

/**
 * The work of a thread of its own, until it gets a message: queries a resolver for a name that it answers from memory,
 * one query after the other. It sends the longest time in ms, without that for which it was ready and had no core.
 */
async function watch(port: number): Promise<void> {
  let [ends, longestMs] = [false, 0];
  parentPort?.once('message', () => (ends = true));
  await using client = new DnsClient();
  while (!ends) {
    const [startedMs, waitedMs] = [performance.now(), coreWaitMs()];
    await client.ask('127.0.0.1', port, BLOCKED);
    const ms = performance.now() - startedMs - (coreWaitMs() - waitedMs);
    longestMs = Math.max(longestMs, ms);
    await sleep(QUERY_PAUSE_MS);
  }
  parentPort?.postMessage(longestMs);
}

/** For how long this thread was ready to run and had no core, by the kernel's account. */
function coreWaitMs(): number {
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
  return Number(waitedNs) / 1e6;
}

if (!isMainThread) await watch(workerData as number);

/** Calls of each kind before anything is measured. */
const WARM_UP = 300;
/** Between two changes beside the batch. */
const PAUSE_MS = 5;

/**
 * Measures one batch of domain rules and its effect on others, in ms: the time from its request to its 2xx, and
 * meanwhile the longest DNS answer and the longest change of another client.
 */
export function measureBatch(domains: number): Promise<Record<string, number>> {
  return withDeployment({ resolvers: 1 }, async (deployment, client) => {
    for (const id of [1, 2]) {
      await client.change('POST', '/blockpage/', { id, type: 1 });
      await client.change('POST', '/profiles/', { profile: { id } });
    }
    await client.change('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 });
    await client.change('POST', '/profile/1/bw_list', { type: 'deny', domain: BLOCKED });
    for (let n = 0; n < WARM_UP; n++) await nextPage(client, 2, n);
    const batch = (round: number): unknown => ({
      type: 'deny',
      domains: Array.from({ length: domains }, (_, i) => `d${i}.r${round}.blocked.example`),
    });
    await client.change('POST', '/profile/2/bw_list/batch', batch(0));
    const body = batch(1);
    const watcher = new Worker(new URL(import.meta.url), { workerData: deployment.dnsPorts[0] });
    await sleep(500);
    let goesOn = true;
    const changes = measureLatencies(
      (n) => nextPage(client, 2, n),
      () => goesOn,
      PAUSE_MS,
    );
    await sleep(100);
    const startedMs = performance.now();
    const { applied } = await client.change('POST', '/profile/1/bw_list/batch', body);
    const tookMs = performance.now() - startedMs;
    await sleep(500);
    goesOn = false;
    watcher.postMessage('end');
    const [longestMs] = (await once(watcher, 'message')) as [number];
    return {
      'request to 2xx': tookMs,
      'in force at the 2xx': applied ?? 0,
      'longest answer from memory': longestMs,
      'longest change of another': Math.max(...(await changes)),
    };
  });
}
