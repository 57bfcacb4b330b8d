import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const SPEC = 'apps/control-plane/src/explain/explain.property.int.spec.ts';

it('GET /explain/ agrees with a resolver in ten thousand questions', async () => {
  const child = spawn('npm', ['test', '--', '--project', 'integration', SPEC], {
    cwd: root,
    env: { ...process.env, EXPLAIN_QUESTIONS: '10000' },
    stdio: 'inherit',
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
}, 3_600_000);
