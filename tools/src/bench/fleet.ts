import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { integerOption, optionsOrExit } from '../command-options.js';
import { print } from '../output.js';
import { cpuMs } from '../services/control-plane.js';
import { initBody } from './init-body.js';
import { summarise } from './latencies.js';
import { startServices } from './services.js';
import { shareOf } from './share.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NETWORKS = 10_000;
const SIZE = { networks: NETWORKS, profiles: 1_000, domains: 10_000, portRanges: 1_000 };
const WARM_UP_MS = shareOf(5_000);
const MEASURED_MS = shareOf(15_000);
/** Until every follower has published its state. */
const SETTLE_MS = 5_000;

const HELP = `npm run bench:fleet -- [--followers 1000] [--rate 100]

Measures changes with a large fleet. It starts PostgreSQL, Redis and a control plane, and followers that are simulated
over the real Redis. It changes networks at a fixed rate.
followers: simulated resolvers
rate: changes a second`;

const { followers, rate } = optionsOrExit(
  HELP,
  {
    followers: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '100' },
  },
  (values) => ({
    followers: integerOption('followers', values.followers, 1, 100_000),
    rate: integerOption('rate', values.rate, 1, 100_000),
  }),
);

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-fleet-'));
const services = await startServices(ROOT, folder);
const { controlPlane, client, redisUrl, redisPid } = services;
await client.send('POST', '/init/', initBody(SIZE, 0));
const fleet = await startFleet();
try {
  await sleep(SETTLE_MS);
  await changeNetworks(WARM_UP_MS);
  const processes = { 'control plane': controlPlane.pid, Redis: redisPid };
  const before = cpuOf(processes);
  const startedMs = performance.now();
  const { latencies, incomplete } = await changeNetworks(MEASURED_MS);
  const tookMs = performance.now() - startedMs;
  const shares = Object.entries(cpuOf(processes)).map(
    ([name, ms]) => `${name} ${((100 * (ms - (before[name] ?? 0))) / tookMs).toFixed(0)} %`,
  );
  print(
    `${followers} followers, ${(latencies.length / (tookMs / 1000)).toFixed(0)} changes/s: ` +
      `${summarise(latencies)}, not in force everywhere ${incomplete}; of a core: ${shares.join(', ')}`,
  );
} finally {
  fleet.kill('SIGKILL');
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startFleet(): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('fleet-followers.js', import.meta.url));
  const child = spawn(process.execPath, [program, redisUrl, String(followers)], {
    env: { ...process.env, FEED_TOKEN: controlPlane.token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

function cpuOf(processes: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuMs(pid)]));
}

/** Begins a change at each tick of the rate, whether or not those before have been answered. */
async function changeNetworks(
  durationMs: number,
): Promise<{ latencies: number[]; incomplete: number }> {
  const latencies: number[] = [];
  const changes: Promise<void>[] = [];
  let incomplete = 0;
  const change = async (n: number): Promise<void> => {
    const startedMs = performance.now();
    const address = 0x0a00_0000 + (n % NETWORKS) * 4;
    const { applied } = await client.sendJson('PATCH', `/net/${address}`, {
      profile_id: n % 1_000,
    });
    latencies.push(performance.now() - startedMs);
    if (applied !== `${followers}/${followers}`) incomplete++;
  };
  const startedMs = performance.now();
  for (let n = 0; performance.now() - startedMs < durationMs; n++) {
    changes.push(change(n));
    await sleep(Math.max(0, startedMs + ((n + 1) * 1000) / rate - performance.now()));
  }
  await Promise.all(changes);
  return { latencies, incomplete };
}
