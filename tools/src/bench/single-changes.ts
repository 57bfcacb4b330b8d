import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { integerOption, optionsOrExit } from '../command-options.js';
import { print } from '../output.js';
import { type ControlPlaneProcess, cpuMs, startControlPlane } from '../services/control-plane.js';
import { initBody } from './init-body.js';
import { measureLatencies, summarise } from './latencies.js';
import { describeLoad } from './machine.js';
import { RawClient } from './raw-client.js';
import { startServices } from './services.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const RESOLVERS = 3;
const NETWORKS = 100_000;
const SIZE = { networks: NETWORKS, profiles: 1_000, domains: 10_000, portRanges: 1_000 };
const WARM_UP_MS = 3_000;
/** Until every simulated resolver has published its state. */
const SETTLE_MS = 2_500;

const HELP = `npm run bench:changes -- [--clients 1,64] [--seconds 10] [--replicas 1]

Measures single changes of networks. It starts PostgreSQL, Redis, the control planes and three simulated resolvers. Each
client waits for its answer; the clients are spread over the control planes.
clients: numbers of clients, separated by commas; one after the other
seconds: for each number of clients
replicas: control planes
CONTROL_PLANE_FLAGS are given to the control planes' Node, for example --cpu-prof.`;

const { clients, seconds, replicas } = optionsOrExit(
  HELP,
  {
    clients: { type: 'string', default: '1,64' },
    seconds: { type: 'string', default: '10' },
    replicas: { type: 'string', default: '1' },
  },
  (values) => ({
    clients: values.clients.split(',').map((one) => integerOption('clients', one, 1, 10_000)),
    seconds: integerOption('seconds', values.seconds, 1, 3_600),
    replicas: integerOption('replicas', values.replicas, 1, 20),
  }),
);
const folder = mkdtempSync(join(tmpdir(), 'weir-bench-changes-'));
const flags = { NODE_OPTIONS: process.env['CONTROL_PLANE_FLAGS'] ?? '' };
const services = await startServices(ROOT, folder, flags);
const { controlPlane, client, redisUrl } = services;
const { token } = controlPlane;
const controlPlanes = [controlPlane];
while (controlPlanes.length < replicas) controlPlanes.push(await startReplica());
await client.send('POST', '/init/', initBody(SIZE, 0));
const program = fileURLToPath(new URL('fleet-followers.js', import.meta.url));
const resolvers = spawn(process.execPath, [program, redisUrl, String(RESOLVERS)], {
  env: { ...process.env, FEED_TOKEN: token },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  await sleep(SETTLE_MS);
  for (const count of clients) await measure(count);
} finally {
  resolvers.kill('SIGKILL');
  for (const replica of controlPlanes.slice(1)) await replica.stop();
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startReplica(): Promise<ControlPlaneProcess> {
  const own = mkdtempSync(join(folder, 'replica-'));
  const variables = { ...flags, MANAGEMENT_TOKENS: token, FEED_TOKEN: token };
  return startControlPlane({ root: ROOT, ...services, folder: own, variables });
}

function controlPlanesMs(): number {
  return controlPlanes.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
}

async function measure(count: number): Promise<void> {
  const connections = Array.from(
    { length: count },
    (_, i) => new RawClient(controlPlanes[i % controlPlanes.length].url, token),
  );
  let n = 0;
  let incomplete = 0;
  const change = async (connection: RawClient): Promise<void> => {
    const at = n++;
    const address = 0x0a00_0000 + (at % NETWORKS) * 4;
    const body = { profile_id: (at * 7) % SIZE.profiles };
    const { applied } = await connection.send('PATCH', `/net/${address}`, body);
    if (applied !== `${RESOLVERS}/${RESOLVERS}`) incomplete++;
  };
  const runFor = async (ms: number): Promise<number[]> => {
    const endMs = performance.now() + ms;
    const each = connections.map((connection) =>
      measureLatencies(
        () => change(connection),
        () => performance.now() < endMs,
      ),
    );
    return (await Promise.all(each)).flat();
  };
  await runFor(WARM_UP_MS);
  incomplete = 0;
  const [beforeMs, startedMs] = [controlPlanesMs(), performance.now()];
  const latencies = await runFor(seconds * 1000);
  const rate = latencies.length / ((performance.now() - startedMs) / 1000);
  const each = (controlPlanesMs() - beforeMs) / latencies.length;
  print(
    `PATCH /net/{int_ip}, ${count} clients, ${controlPlanes.length} control planes, ` +
      `${RESOLVERS} resolvers: ${rate.toFixed(0)}/s, ${summarise(latencies)}, ` +
      `not in force everywhere ${incomplete}, CPU of the control planes ${each.toFixed(2)} ms a change ` +
      `(${describeLoad()})`,
  );
  for (const connection of connections) connection.close();
}
