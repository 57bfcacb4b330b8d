import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../test-images.mjs', import.meta.url));

it('npm run test:images fails where it can test nothing, and says why', () => {
  const options = { encoding: 'utf8', env: { PATH: '/nowhere' } } as const;
  const { status, stderr } = spawnSync(process.execPath, [script], options);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^test:images: nothing was tested\. .*(root|Missing: .*docker)/);
});
