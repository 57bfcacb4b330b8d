import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// Test files share processes, so a helper is loaded once: its hooks would be those of the first file only.
it('a helper of tests registers hooks within its functions only', () => {
  const helpers = ['*.ts', '*.tsx', ':!*.spec.ts', ':!vitest.config.ts'];
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...helpers], { cwd: root });
  const files = listed.toString().split('\0').filter(Boolean);
  expect(files).toContain('apps/resolver/src/testing/forwarding.ts');
  const withHooks = files.filter((file) =>
    /^(before|after)(Each|All)\(/m.test(readFileSync(root + file, 'utf8')),
  );
  expect(withHooks).toEqual([]);
});
