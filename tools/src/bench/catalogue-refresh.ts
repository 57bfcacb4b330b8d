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
import { integerOption, optionsOrExit } from '../command-options.js';
import { print } from '../output.js';
import { peakResidentMiB } from '../services/control-plane.js';
import { ApiClient } from './api-client.js';
import { measureDeltas } from './image-deltas.js';
import { measureLatencies, summarise } from './latencies.js';
import { startServices } from './services.js';
import { shareOf } from './share.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPARED_MS = 5_000;
const BLOCK_LINES = 10_000;

const HELP = `npm run bench:refresh -- [--domains 5]

Measures a catalogue refresh beside the management API. It starts PostgreSQL, Redis and a control plane, and puts a list
of generated domains into the folder of the catalogue. Until the list is in force, one client reads and another one
writes, as back offices do; before that, they do the same without a refresh. Then it changes a few names, and a follower
fetches the new images.
domains: in the list, in millions`;

const millions = optionsOrExit(HELP, { domains: { type: 'string', default: '5' } }, (values) =>
  integerOption('domains', values.domains, 1, 100),
);
const DOMAINS = shareOf(millions * 1e6);

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-refresh-'));
const catalogue = join(folder, 'catalogue');
mkdirSync(catalogue);
define(0);
const services = await startServices(ROOT, folder, {
  CATALOGUE: catalogue,
  CATALOGUE_INTERVAL_MS: '1000',
  PROPAGATION_TIMEOUT_MS: '0',
});
const { controlPlane, client } = services;
try {
  await client.sendJson('POST', '/profiles/', { profile: { id: 1 } });
  await measured('without a refresh', () => sleep(COMPARED_MS));
  await writeList(DOMAINS);
  await measured(`${DOMAINS / 1e6} M domains from file to force`, () => putInForce(1));
  let version = 1;
  const deltas = await measureDeltas(controlPlane, DOMAINS, async (added) => {
    await writeList(DOMAINS + added);
    await putInForce(++version);
  });
  print(`\na catalogue of ${DOMAINS / 1e6} M domains of which some have changed:\n\n${deltas}`);
} finally {
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Version 0 has no list. Each has as many applications as its number, so that it can be seen when it is in force.
 */
function define(version: number): void {
  const sources = version === 0 ? '' : ', sources: [{ file: list, format: domains }]';
  const signs = Array.from({ length: version }, (_, i) => `{ id: ${i}, name: Sign ${i} }`);
  const categories = `categories: [{ id: 1, name: Generated${sources} }]\n`;
  const applications = version === 0 ? '' : `applications: [${signs.join(', ')}]\n`;
  writeFileSync(join(folder, 'catalogue.yaml'), categories + applications);
  renameSync(join(folder, 'catalogue.yaml'), join(catalogue, 'catalogue.yaml'));
}

async function putInForce(version: number): Promise<void> {
  define(version);
  while ((await applicationCount()) !== version) await sleep(50);
}

async function writeList(domains: number): Promise<void> {
  await pipeline(Readable.from(blocksOfLines(domains)), createWriteStream(join(folder, 'list')));
  renameSync(join(folder, 'list'), join(catalogue, 'list'));
}

function* blocksOfLines(domains: number): Generator<string> {
  for (let i = 0; i < domains; i += BLOCK_LINES) {
    const count = Math.min(BLOCK_LINES, domains - i);
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

async function applicationCount(): Promise<number> {
  const response = await fetch(`${controlPlane.url}/app_aware/application/`, {
    headers: { Authorization: `Bearer ${controlPlane.token}` },
  });
  return ((await response.json()) as unknown[]).length;
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
