import type { Head } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import { integer, list, optionsOrExit, print, value } from '../command.js';
import type { Deployment } from '../deployment/deployment.js';
import { Helper } from '../services/helper.js';
import { cpuMs } from '../services/usage.js';
import { withDeployment } from './deployment.js';
import { describeLoad, describeMachine, measureLatencies, summarise } from './figures.js';
import { initBody } from './init-body.js';
import type { SimulatedResolvers } from './simulated-resolvers.js';

const NETWORKS = 100_000;
const SIZE = { networks: NETWORKS, profiles: 1_000, domains: 10_000, portRanges: 1_000 };
const WARM_UP_MS = 3_000;
/** Until every simulated resolver has published its state. */
const SETTLE_MS = 2_500;

const HELP = `npm run bench:changes -- [--clients 1,64] [--rate N] [--seconds 10] [--resolvers 3]

Measures single changes of networks. It starts PostgreSQL, Redis, a control plane and simulated resolvers.
clients: numbers of clients, separated by commas; one after the other. Each client waits for its answer before its next
  change
rate: instead of as many changes as the clients can make, so many a second of all clients together
seconds: for each number of clients
resolvers: 1000 with --clients 64 --rate 100 shows what a large fleet costs`;

const { clients, rate, seconds, resolvers } = optionsOrExit(HELP, {
  clients: value(list(integer(1, 10_000)), [1, 64]),
  rate: value(integer(1, 100_000), Infinity),
  seconds: value(integer(1, 3_600), 10),
  resolvers: value(integer(1, 100_000), 3),
});
const PROGRAM = new URL('simulated-resolvers.js', import.meta.url);

await withDeployment({}, async (deployment, client) => {
  await client.upload('POST', '/init/', initBody(SIZE, 0));
  const { redisUrl, deploymentId, feedUrl } = deployment;
  const { feedToken } = deployment.secrets;
  const headers = { Authorization: `Bearer ${feedToken}` };
  const page = await fetch(new URL('/changes?after=0', feedUrl), { headers });
  const { head } = (await page.json()) as { readonly head: Head };
  const order: SimulatedResolvers = { redisUrl, deploymentId, feedToken, head, count: resolvers };
  await using simulated = new Helper(PROGRAM, order);
  await simulated.next();
  await sleep(SETTLE_MS);
  print(describeMachine());
  for (const count of clients) await measure(deployment, count);
});

async function measure({ clients, replicas, redis }: Deployment, count: number): Promise<void> {
  const [[client], [controlPlane]] = [clients, replicas];
  let [n, incomplete] = [0, 0];
  const runFor = async (ms: number): Promise<number[]> => {
    const startedMs = performance.now();
    let begun = 0;
    const each = Array.from({ length: count }, () =>
      measureLatencies(
        async () => {
          const at = n++;
          const path = `/net/${0x0a00_0000 + (at % NETWORKS) * 4}`;
          const body = { profile_id: (at * 7) % SIZE.profiles };
          const { applied, total } = await client.change('PATCH', path, body);
          if (applied !== resolvers || total !== resolvers) incomplete++;
        },
        async () => {
          const dueMs = startedMs + (begun++ * 1_000) / rate;
          if (dueMs > performance.now()) await sleep(dueMs - performance.now());
          return performance.now() < startedMs + ms;
        },
      ),
    );
    return (await Promise.all(each)).flat();
  };
  await runFor(WARM_UP_MS);
  incomplete = 0;
  const cpu = () => [cpuMs(controlPlane.pid), cpuMs(redis.pid)];
  const [before, startedMs] = [cpu(), performance.now()];
  const latencies = await runFor(seconds * 1_000);
  const tookMs = performance.now() - startedMs;
  const [controlPlaneMs, redisMs] = cpu().map((ms, i) => ms - before[i]);
  const share = (ms: number): string => `${((100 * ms) / tookMs).toFixed(0)} %`;
  print(
    `PATCH /net/{int_ip}, ${count} clients, ${resolvers} resolvers: ${((latencies.length * 1_000) / tookMs).toFixed(0)}/s, ` +
      `${summarise(latencies)}, not in force everywhere ${incomplete}; CPU of the control plane ` +
      `${(controlPlaneMs / latencies.length).toFixed(2)} ms a change, ${share(controlPlaneMs)} of a core, ` +
      `Redis ${share(redisMs)} (${describeLoad()})`,
  );
}
