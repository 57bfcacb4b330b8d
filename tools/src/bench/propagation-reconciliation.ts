import { join } from 'node:path';
import type { Deployment } from '../deployment/deployment.js';
import { print } from '../output.js';
import { ApiClient } from './api-client.js';
import { FULL_SIZE, initBody } from './init-body.js';
import { root, withDeployment } from './propagation-deployment.js';

const RESOLVERS = 3;
/** Each so many-th network gets another profile. */
const CHANGED_EACH = 1_000;
const DEADLINE_MS = 180_000;

/**
 * Sends the configuration of a large provider, the same again, and then with 0.1 % of its networks changed. Measures
 * the time until each is in force on all resolvers, and what the feed sends to each of them for the last one.
 */
export function measureReconciliation(): Promise<Record<string, number>> {
  // The body names applications of the default catalogue.
  return withDeployment(RESOLVERS, measure, { CATALOGUE: join(root, 'catalogue') });
}

async function measure(deployment: Deployment): Promise<Record<string, number>> {
  const { token, feedToken } = deployment.secrets;
  const api = new ApiClient(`http://127.0.0.1:${deployment.managementPorts[0]}`, token);
  /** Until it is in force: a resolver that loads a snapshot may take longer than a call waits for it. */
  const post = async (changedEach?: number): Promise<number> => {
    const startedMs = performance.now();
    const body = initBody(FULL_SIZE, 0, changedEach);
    const answer = await api.send('POST', '/init/', body);
    if (answer.status !== 204) throw new Error(`POST /init/ was answered ${answer.status}`);
    let { applied } = answer;
    if (applied !== `${RESOLVERS}/${RESOLVERS}`) {
      // The call does not wait any longer (INIT_PROPAGATION_TIMEOUT_MS), or a resolver was missing for a moment.
      const answeredS = ((performance.now() - startedMs) / 1000).toFixed(1);
      print(
        `POST /init/ was answered after ${answeredS} s, in force on ${applied}; waiting for all`,
      );
    }
    while (applied !== `${RESOLVERS}/${RESOLVERS}`) {
      if (performance.now() - startedMs > DEADLINE_MS) throw new Error(`in force on ${applied}`);
      ({ applied } = await api.sendJson('PATCH', '/blockpage/1', { type: 0 }));
    }
    return performance.now() - startedMs;
  };
  const get = async (path: string): Promise<string> => {
    const headers = { Authorization: `Bearer ${feedToken}` };
    return (await fetch(new URL(path, deployment.feedUrl), { headers })).text();
  };
  const replaced = await post();
  const unchanged = await post();
  const { head } = JSON.parse(await get('/changes?after=0')) as { head: { revision: number } };
  const changed = await post(CHANGED_EACH);
  const sent = await get(`/changes?after=${head.revision}`);
  return {
    'POST /init/ in force everywhere (ms)': replaced,
    'the same again (ms)': unchanged,
    'with 0.1 % of the networks changed (ms)': changed,
    'sent to each resolver for that (kB)': sent.length / 1000,
  };
}
