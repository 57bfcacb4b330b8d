import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { list, name, optionsOrExit, print, value } from '../command.js';
import { peakResidentMiB, startControlPlane } from '../services/control-plane.js';
import { ApiClient } from './api-client.js';
import { FULL_SIZE, initBody, SMALL_SIZE } from './init-body.js';
import { measureLatencies, summarise } from './figures.js';
import { startStores } from './services.js';
import { Usage } from './usage.js';

const OWN_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The pause between two reads beside a large body. */
const READ_PAUSE_MS = 5;
const PARTS = ['empty', 'replace', 'list'] as const;

const HELP = `npm run bench:api -- [--parts NAMES] [--root FOLDER]

Measures the management API with the configuration of a large provider: 1 M networks, 10 k profiles of 20 categories and
5 applications, 1 M domains, 100 k port ranges. It starts PostgreSQL, Redis and a control plane, as the local stack does.
parts: ${PARTS.join(', ')}; all of them if not given. Names are separated by commas
  empty: POST /init/ into an empty database, which each of the others needs and begins with
  replace: POST /init/ of the same again, of another one, of a small one, and after that
  list: GET /net/
root: another checkout, built, to compare with`;

const { parts, root } = optionsOrExit(HELP, {
  parts: value(list(name(PARTS)), PARTS),
  root: value(String, OWN_ROOT),
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-api-'));
const stores = await startStores(root, folder);
const start = (): ReturnType<typeof startControlPlane> =>
  startControlPlane({ root, folder, ...stores });

let controlPlane = await start();
try {
  const client = new ApiClient(controlPlane.url, controlPlane.token);
  await benchInit(client, 'on an empty database');
  if (parts.includes('replace')) {
    await benchInit(client, 'again, the same');
    await benchInit(client, 'with other networks and domains', 1);
    await benchInit(client, 'of a small configuration', 0, SMALL_SIZE);
    // The networks of variant 0 stay for what follows.
    await benchInit(client, 'after a small configuration', 0);
  }
  if (parts.includes('list')) {
    await controlPlane.stop();
    controlPlane = await start();
    await benchList(new ApiClient(controlPlane.url, controlPlane.token));
  }
} finally {
  await controlPlane.stop();
  await stores.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function benchInit(
  client: ApiClient,
  title: string,
  variant = 0,
  size = FULL_SIZE,
): Promise<void> {
  let done = false;
  // Other clients meanwhile: reads, one after the other.
  const reads = measureLatencies(
    () => client.get('/profiles/1'),
    () => !done,
    READ_PAUSE_MS,
  );
  const usage = new Usage({ controlPlane, ...stores });
  const startedMs = performance.now();
  const { status, bytes } = await client.send('POST', '/init/', initBody(size, variant));
  const tookMs = performance.now() - startedMs;
  done = true;
  print(
    `POST /init/ ${title}: ${status} in ${seconds(tookMs)}, body ${(bytes / 1e6).toFixed(0)} MB, ` +
      `control plane at most ${peakResidentMiB(controlPlane.pid)} MiB; ${usage.show()}; ` +
      `reads meanwhile: ${summarise(await reads)}`,
  );
}

async function benchList(client: ApiClient): Promise<void> {
  const { firstByteMs, totalMs, bytes } = await client.drain('/net/');
  print(
    `GET /net/ of 1 M networks: first byte ${firstByteMs.toFixed(0)} ms, all ${(bytes / 1e6).toFixed(0)} MB ` +
      `in ${seconds(totalMs)}, control plane at most ${peakResidentMiB(controlPlane.pid)} MiB`,
  );
}
