import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DnsClient } from '../deployment/dns-client.js';
import { measureLatencies } from './figures.js';
import { nextPage, withDeployment } from './deployment.js';

interface WatchDnsOptions {
  readonly port: number;
  /** What is asked; unless given, another name each time, which has to be forwarded. */
  readonly qname?: string;
}

/** Result of a probe. */
interface Watched {
  /** The longest answer, without the time for which this thread, ready to run, had no core. */
  readonly longestMs: number;
  /** The same with that time. */
  readonly longestWallMs: number;
  /** Answers that took longer than `LATE_MS`, without that time. */
  readonly late: number;
  readonly sentAgain: number;
}

const QUERY_PAUSE_MS = 1;
/** Longest time that a large change may hold an answer up. */
const LATE_MS = 5;

/** Queries a resolver, one query after the other, in its own thread, until `end` is called. */
function watchDns(options: WatchDnsOptions): { end(): Promise<Watched> } {
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
    await sleep(QUERY_PAUSE_MS);
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

const BLOCKED = 'blocked.example';
/** Calls of each kind before anything is measured. */
const WARM_UP = 300;
/** Between two reads, and between two changes, beside the batch. */
const PAUSE_MS = 5;

/**
 * Measures one batch of domain rules and its effect on others, in ms: the time from its request to its 2xx, and
 * meanwhile the longest DNS answers, the longest read and the longest change of another client.
 */
export function measureBatch(domains: number): Promise<Record<string, number>> {
  return withDeployment({ resolvers: 1 }, async (deployment, client) => {
    for (const id of [1, 2]) {
      await client.change('POST', '/blockpage/', { id, type: 1 });
      await client.change('POST', '/profiles/', { profile: { id } });
    }
    await client.change('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 });
    await client.change('POST', '/profile/1/bw_list', { type: 'deny', domain: BLOCKED });
    for (let n = 0; n < WARM_UP; n++) {
      await nextPage(client, 2, n);
      await client.call('GET', '/profiles/2');
    }
    const batch = (round: number): unknown => ({
      type: 'deny',
      domains: Array.from({ length: domains }, (_, i) => `d${i}.r${round}.blocked.example`),
    });
    await client.change('POST', '/profile/2/bw_list/batch', batch(0));
    const body = batch(1);
    const port = deployment.dnsPorts[0] ?? 0;
    const [fromMemory, forwarded] = [watchDns({ port, qname: BLOCKED }), watchDns({ port })];
    await sleep(500);
    let goesOn = true;
    let n = 0;
    const reads = measureLatencies(
      () => client.call('GET', '/profiles/2'),
      () => goesOn,
      PAUSE_MS,
    );
    const changes = measureLatencies(
      () => nextPage(client, 2, n++),
      () => goesOn,
      PAUSE_MS,
    );
    await sleep(100);
    const startedMs = performance.now();
    const { applied } = await client.change('POST', '/profile/1/bw_list/batch', body);
    const tookMs = performance.now() - startedMs;
    await sleep(500);
    goesOn = false;
    const answers = [await fromMemory.end(), await forwarded.end()] as const;
    return {
      'request to 2xx': tookMs,
      'in force at the 2xx': applied ?? 0,
      'longest answer from memory': answers[0].longestMs,
      'longest answer from memory, with waits of the client for a core': answers[0].longestWallMs,
      'answers from memory over 5 ms': answers[0].late,
      'longest forwarded answer': answers[1].longestMs,
      'queries sent again': answers[0].sentAgain + answers[1].sentAgain,
      'longest read': Math.max(...(await reads)),
      'longest change of another': Math.max(...(await changes)),
    };
  });
}
