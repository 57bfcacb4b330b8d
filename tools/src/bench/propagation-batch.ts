import { setTimeout as sleep } from 'node:timers/promises';
import { Helper } from '../services/helper.js';
import { measureLatencies } from './figures.js';
import { nextPage, withDeployment } from './deployment.js';
import type { Asked } from './longest-answer.js';

const BLOCKED = 'blocked.example';
const WATCHER = new URL('longest-answer.js', import.meta.url);

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
    const asked: Asked = { port: deployment.dnsPorts[0], qname: BLOCKED };
    await using watcher = new Helper(WATCHER, asked);
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
    watcher.process.send('end');
    const longestMs = await watcher.next<number>();
    return {
      'request to 2xx': tookMs,
      'in force at the 2xx': applied ?? 0,
      'longest answer from memory': longestMs,
      'longest change of another': Math.max(...(await changes)),
    };
  });
}
