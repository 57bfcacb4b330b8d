/*
 * Benchmark of single changes: `npm run bench:changes -- [clients] [seconds]`; 1 and 64 clients, 10 s if not given.
 *
 * It starts PostgreSQL, Redis, a control plane and three simulated resolvers, and changes networks. Each client waits
 * for its answer. It prints figures and asserts nothing. CONTROL_PLANE_FLAGS are given to the control plane's Node, for
 * example `--cpu-prof`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { print } from '../output.js';
import { cpuMs } from '../services/control-plane.js';
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

const [clients, seconds = 10] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'weir-bench-changes-'));
const services = await startServices(ROOT, folder, {
  NODE_OPTIONS: process.env['CONTROL_PLANE_FLAGS'] ?? '',
});
const { controlPlane, client, redisUrl } = services;
const { url, token } = controlPlane;
await client.send('POST', '/init/', initBody(SIZE, 0));
const program = fileURLToPath(new URL('fleet-followers.js', import.meta.url));
const resolvers = spawn(process.execPath, [program, redisUrl, String(RESOLVERS)], {
  env: { ...process.env, FEED_TOKEN: token },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  await sleep(SETTLE_MS);
  for (const count of clients === undefined ? [1, 64] : [clients]) await measure(count);
} finally {
  resolvers.kill('SIGKILL');
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(count: number): Promise<void> {
  const connections = Array.from({ length: count }, () => new RawClient(url, token));
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
  const [beforeMs, startedMs] = [cpuMs(controlPlane.pid), performance.now()];
  const latencies = await runFor(seconds * 1000);
  const rate = latencies.length / ((performance.now() - startedMs) / 1000);
  const each = (cpuMs(controlPlane.pid) - beforeMs) / latencies.length;
  print(
    `PATCH /net/{int_ip}, ${count} clients, ${RESOLVERS} resolvers: ${rate.toFixed(0)}/s, ${summarise(latencies)}, ` +
      `not in force everywhere ${incomplete}, CPU of the control plane ${each.toFixed(2)} ms a change ` +
      `(${describeLoad()})`,
  );
  for (const connection of connections) connection.close();
}
