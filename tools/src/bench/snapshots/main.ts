/*
 * Followers that start at once: `npm run bench:snapshots -- --help`. It starts PostgreSQL, Redis and a control plane,
 * each as its own process, and fills them. It prints figures and asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { integerOption, optionsOrExit } from '../../command-options.js';
import { print, progress } from '../../output.js';
import { peakResidentMiB } from '../../services/control-plane.js';
import { initBody } from '../init-body.js';
import { describeMachine } from '../machine.js';
import { type BenchServices, startServices } from '../services.js';
import { Usage } from '../usage.js';
import { downloadSnapshots } from './downloads.js';
import { startResolvers } from './resolvers.js';
import { showTimes } from './times.js';

const OWN_ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

const HELP = `npm run bench:snapshots -- [--followers 100] [--resolvers 20] [--networks 200000] [--root FOLDER]

Measures followers that start at once, with nothing on their disks.
followers: downloads of the snapshot, each over a connection of its own; the bytes are read and thrown away
resolvers: processes that load the snapshot and become ready
networks: in the configuration, with as many domain rules
root: another checkout, built, to compare with`;

interface Options {
  readonly followers: number;
  readonly resolvers: number;
  readonly networks: number;
  readonly root: string;
}

await run(
  optionsOrExit(
    HELP,
    {
      followers: { type: 'string', default: '100' },
      resolvers: { type: 'string', default: '20' },
      networks: { type: 'string', default: '200000' },
      root: { type: 'string', default: OWN_ROOT },
    },
    (values): Options => ({
      followers: integerOption('followers', values.followers, 0, 10_000),
      resolvers: integerOption('resolvers', values.resolvers, 0, 200),
      networks: integerOption('networks', values.networks, 10, 10_000_000),
      root: values.root,
    }),
  ),
);

async function run({ followers, resolvers, networks, root }: Options): Promise<void> {
  const size = { networks, profiles: networks / 10, domains: networks, portRanges: networks / 10 };
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-snapshots-'));
  const services = await startServices(root, folder);
  try {
    progress(`POST /init/ with ${networks} networks and as many rules …`);
    await services.client.send('POST', '/init/', initBody(size, 0));
    print(describeMachine());
    if (followers > 0) await measureDownloads(services, followers);
    if (resolvers > 0) await measureResolvers(services, { count: resolvers, root, folder });
  } finally {
    await services.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureDownloads(services: BenchServices, followers: number): Promise<void> {
  const { pid, feedUrl, token } = services.controlPlane;
  const memoryBefore = peakResidentMiB(pid);
  const usage = new Usage(services);
  const { endsMs, bytes, refusals } = await downloadSnapshots(followers, feedUrl, token);
  print(
    `${followers} snapshots of ${(bytes / followers / 1e6).toFixed(1)} MB: ${showTimes(endsMs)}; ` +
      `put off ${refusals} times`,
  );
  print(
    `${usage.show()}; memory of the control plane: ${memoryBefore} MiB before, ` +
      `${peakResidentMiB(pid)} MiB at most`,
  );
}

async function measureResolvers(
  services: BenchServices,
  settings: { readonly count: number; readonly root: string; readonly folder: string },
): Promise<void> {
  const { count } = settings;
  progress(`starts ${count} resolvers …`);
  const usage = new Usage(services);
  const { readyMs, meanCpuMs, meanPeakMiB } = await startResolvers(settings, services);
  print(`${count} resolvers ready: ${showTimes(readyMs)}`);
  print(
    `${usage.show()}; a resolver ${(meanCpuMs / 1_000).toFixed(1)} s and at most ${Math.round(meanPeakMiB)} MiB`,
  );
}
