import { startUpstream, UPSTREAM_ADDRESS } from '@weir/tools/deployment/dns-message';
import { freshUserEnvironment } from '@weir/tools/services/clone';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FreshClone } from './testing/fresh-clone.js';
import { PATIENT } from './testing/patient.js';
import { PORTS, portVariables } from './testing/ports.js';
import { ask } from './testing/resolver-client.js';
import { Terminal } from './testing/terminal.js';

const FIRST_START_MS = 580_000;

it('npm start in a fresh clone installs what it needs, and Weir answers', async () => {
  const clone = new FreshClone();
  onTestFinished(() => clone.remove());
  const upstream = await startUpstream();
  onTestFinished(() => void upstream.close());
  expect(existsSync(join(clone.folder, 'node_modules'))).toBe(false);
  const environment = {
    ...portVariables(PORTS),
    UPSTREAMS: `127.0.0.1:${upstream.address().port}`,
    ...PATIENT,
  };
  const terminal = new Terminal('npm', ['start'], {
    cwd: clone.folder,
    env: { ...freshUserEnvironment(), ...environment },
  });
  onTestFinished(async () => {
    await terminal.interrupt();
  });
  await terminal.waitFor('Ctrl-C stops everything', FIRST_START_MS);
  expect(terminal.output).toContain('Installing dependencies');
  expect(await ask(PORTS.dns, 'www.example.com')).toEqual([UPSTREAM_ADDRESS]);
  expect(clone.status()).toBe('');
});
