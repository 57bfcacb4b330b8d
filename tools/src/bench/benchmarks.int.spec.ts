import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasDnsperf } from './dns/load.js';
import { hasNsd } from './dns/servers/upstream.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const bench = async (name: string, ...args: string[]): Promise<string> =>
  (await run(process.execPath, [join(root, 'tools/dist/bench', name, 'main.js'), ...args])).stdout;

const canLoad = hasDnsperf() && hasNsd() && cpus().length > 1;
if (!canLoad) process.stderr.write('benchmarks are not run: need dnsperf, nsd and two cores\n');

beforeAll(async () => {
  const folders = ['tools', 'apps/control-plane', 'apps/resolver'];
  const projects = folders.map((folder) => join(root, folder, 'tsconfig.build.json'));
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', ...projects]);
});

describe('benchmarks, at their smallest', () => {
  it.skipIf(!canLoad)(
    'bench:dns prints a row for each server',
    async () => {
      const args = ['--jobs', 'zone', '--servers', 'weir', '--rounds', '1', '--seconds', '1'];
      const table = await bench('dns', ...args);
      // All figures, and no reason why it was not measured.
      expect(table).toMatch(/^\| Weir \| [\d.]+ \|.*\| +\|$/m);
    },
    120_000,
  );
});
