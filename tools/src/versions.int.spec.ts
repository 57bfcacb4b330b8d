import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

it.each([
  ['control-plane', 'apps/control-plane/dist/main.js'],
  ['resolver', 'apps/resolver/dist/main.js'],
  ['block-page', 'apps/block-page/dist/main.js'],
  ['migrate', 'tools/dist/migrate.js'],
  ['weir', 'tools/dist/stack/main.js'],
])('%s says its version, and of which commit it is where that is known', async (name, script) => {
  const say = async (env: Record<string, string>) =>
    (await run(process.execPath, [join(ROOT, script), '--version'], { env })).stdout;
  expect(await say({})).toBe(`${name} ${version}\n`);
  expect(await say({ WEIR_COMMIT: '89a4cd8' })).toBe(`${name} ${version} (89a4cd8)\n`);
});
