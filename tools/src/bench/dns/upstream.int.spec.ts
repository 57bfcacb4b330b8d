import { freePort, needs } from '@weir/ops/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ORIGIN } from './jobs.js';
import { loadDns } from '../../services/load-generators.js';
import { startUpstream } from './upstream.js';

it(
  'does not limit the responses to one client (nsd and dnsperf)',
  needs('nsd', 'dnsperf'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-upstream-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await freePort();
    const upstream = startUpstream(folder, port);
    onTestFinished(async () => {
      await upstream.stop();
    });
    const names = Array.from({ length: 5_000 }, (_, i) => `www.site-${i}.${ORIGIN} A\n`);
    const queries = join(folder, 'queries');
    writeFileSync(queries, names.join(''));
    const pace = { kind: 'once', rate: 3_000 } as const;
    const result = await loadDns({ port, queries, pace, timeoutSeconds: 20 });
    expect(result).toMatchObject({ sent: 5_000, errors: 0 });
    // A busy machine may lose a few. The limit of nsd would be 200 a second.
    expect(result.answered).toBeGreaterThan(4_000);
  },
);
