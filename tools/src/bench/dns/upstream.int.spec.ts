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
    const load = { seconds: 2, rate: 2_500, timeoutSeconds: 20 };
    const { answered, errors } = await loadDns({ port, queries, ...load });
    expect(errors).toBe(0);
    // A busy machine may lose a few, or send less. The limit of nsd would be 200 a second.
    expect(answered).toBeGreaterThan(2_000);
  },
);
