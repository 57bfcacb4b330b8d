/*
 * Benchmark of a catalogue refresh beside the management API: `npm run bench:refresh -- [million domains, 5 by
 * default]`.
 *
 * It starts PostgreSQL, Redis and a control plane, each as its own process, and puts a list of generated domains
 * into the catalogue's folder. Until the list is in force, one client reads and another one writes, as back offices
 * do. For comparison both also run before that. It prints figures and asserts nothing.
 */
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { print } from '../output.js';
import { peakResidentMiB } from '../services/control-plane.js';
import { ApiClient } from './api-client.js';
import { measureLatencies, summarise } from './latencies.js';
import { startServices } from './services.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOMAINS = Number(process.argv[2] ?? 5) * 1e6;
const COMPARED_MS = 5_000;
const BLOCK_LINES = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-refresh-'));
const catalogue = join(folder, 'catalogue');
mkdirSync(catalogue);
define('');
const services = await startServices(ROOT, folder, {
  CATALOGUE: catalogue,
  CATALOGUE_INTERVAL_MS: '1000',
  PROPAGATION_TIMEOUT_MS: '0',
});
const { controlPlane, client } = services;
try {
  await client.sendJson('POST', '/profiles/', { profile: { id: 1 } });
  await measured('without a refresh', () => sleep(COMPARED_MS));
  await pipeline(Readable.from(blocksOfLines()), createWriteStream(join(folder, 'list')));
  renameSync(join(folder, 'list'), join(catalogue, 'list'));
  await measured(`${DOMAINS / 1e6} M domains from file to force`, async () => {
    define('sources: [{ file: list, format: domains }]');
    while (!(await isInForce())) await sleep(50);
  });
} finally {
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** An application comes and goes with the list, so that it can be seen when the list is in force. */
function define(sources: string): void {
  const applications = sources === '' ? '' : 'applications: [{ id: 1, name: Sign }]\n';
  const categories = `categories: [{ id: 1, name: Generated${sources && `, ${sources}`} }]\n`;
  writeFileSync(join(catalogue, 'catalogue.yaml'), categories + applications);
}

function* blocksOfLines(): Generator<string> {
  for (let i = 0; i < DOMAINS; i += BLOCK_LINES) {
    const count = Math.min(BLOCK_LINES, DOMAINS - i);
    yield Array.from(
      { length: count },
      (_, j) => `host-${i + j}.domain-${(i + j) % 9973}.example\n`,
    ).join('');
  }
}

/** Longest that the control plane's main thread was busy with one thing since it was asked last. */
async function longestBusyMs(): Promise<number> {
  const metrics = await (await fetch(`${controlPlane.opsUrl}/metrics`)).text();
  const [, max] = /eventloop_lag_max_seconds ([\d.e-]+)/.exec(metrics) ?? [];
  return Number(max) * 1000;
}

async function isInForce(): Promise<boolean> {
  const response = await fetch(`${controlPlane.url}/app_aware/application/`, {
    headers: { Authorization: `Bearer ${controlPlane.token}` },
  });
  return ((await response.json()) as unknown[]).length > 0;
}

async function measured(title: string, work: () => Promise<unknown>): Promise<void> {
  let done = false;
  const goOn = (): boolean => !done;
  const [reader, writer] = [1, 2].map(() => new ApiClient(controlPlane.url, controlPlane.token));
  let isOn = false;
  const reads = measureLatencies(() => reader.get('/profiles/1'), goOn);
  const writes = measureLatencies(() => {
    isOn = !isOn;
    return writer.sendJson('PATCH', '/profiles/1', { profile: { white_list_only: isOn } });
  }, goOn);
  await longestBusyMs();
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  done = true;
  const busyMs = await longestBusyMs();
  print(`${title}: ${(tookMs / 1000).toFixed(1)} s`);
  print(`  reads ${summarise(await reads)}`);
  print(`  changes ${summarise(await writes)}`);
  print(
    `  the main thread was busy for ${busyMs.toFixed(0)} ms at most, the process takes at most ${peakResidentMiB(controlPlane.pid)} MiB so far`,
  );
}
