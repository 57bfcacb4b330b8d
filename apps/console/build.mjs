// `node apps/console/build.mjs` makes the types of the management API from docs/openapi.json, and the files that
// browsers load, unless both are up to date.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const contract = join(root, 'docs/openapi.json');
const stampFile = join(root, 'node_modules/.weir-console');

function sources() {
  const own = readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('generated'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const others = ['build.mjs', 'index.html', 'tsconfig.json', 'vite.config.mjs'];
  return [
    ...own,
    ...others.map((name) => join(here, name)),
    contract,
    join(root, 'package-lock.json'),
  ];
}

const hash = createHash('sha256');
for (const file of sources()) hash.update(`${file}\n`).update(readFileSync(file));
const stamp = hash.digest('hex');
const types = join(here, 'src/generated/api.ts');
const isCurrent =
  [join(here, 'dist/index.html'), types, stampFile].every((file) => existsSync(file)) &&
  readFileSync(stampFile, 'utf8') === stamp;

if (!isCurrent) {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const ast = await openapiTypes(JSON.parse(readFileSync(contract, 'utf8')));
  mkdirSync(join(here, 'src/generated'), { recursive: true });
  writeFileSync(types, astToString(ast));
  const { build } = await import('vite');
  await build({ root: here, logLevel: 'warn' });
  writeFileSync(stampFile, stamp);
}
