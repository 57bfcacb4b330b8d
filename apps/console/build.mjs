// `node apps/console/build.mjs` makes the types of the management API from docs/openapi.json, and the files that
// browsers load from the control plane under /console/, unless both are up to date.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const contract = join(root, 'docs/openapi.json');
const stampFile = join(root, 'node_modules/.weir-console');
const types = join(here, 'src/generated/api.ts');
const folder = join(here, 'dist');

function sources() {
  const own = readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('generated'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const others = ['build.mjs', 'index.html', 'tsconfig.json'].map((name) => join(here, name));
  return [...own, ...others, contract, join(root, 'package-lock.json')];
}

async function makeTypes() {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const ast = await openapiTypes(JSON.parse(readFileSync(contract, 'utf8')));
  mkdirSync(join(types, '..'), { recursive: true });
  replaceFile(types, astToString(ast));
}

/** The names of all files but index.html have a hash, so browsers keep them for good. */
async function bundle(outdir) {
  const { build } = await import('esbuild');
  const names = 'assets/[name]-[hash]';
  const { metafile } = await build({
    absWorkingDir: here,
    entryPoints: ['src/main.tsx', 'src/icon.svg'],
    outdir,
    entryNames: names,
    chunkNames: names,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
  });
  const made = Object.entries(metafile.outputs).map(([path, output]) => [
    path.slice(path.indexOf('assets/')),
    output,
  ]);
  const [script, { cssBundle }] = made.find(([, { entryPoint }]) => entryPoint === 'src/main.tsx');
  const [icon] = made.find(([path]) => path.endsWith('.svg'));
  const style = cssBundle.slice(cssBundle.indexOf('assets/'));
  const page = readFileSync(join(here, 'index.html'), 'utf8')
    .replace('/src/main.tsx', `/console/${script}`)
    .replace('/src/icon.svg', `/console/${icon}`)
    .replace('</head>', `  <link rel="stylesheet" href="/console/${style}" />\n  </head>`);
  writeFileSync(join(outdir, 'index.html'), page);
}

/** Others may read it meanwhile, or make it at the same time. */
function replaceFile(path, content) {
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
}

const hash = createHash('sha256');
for (const file of sources()) hash.update(`${file}\n`).update(readFileSync(file));
const stamp = hash.digest('hex');
const isCurrent =
  [join(folder, 'index.html'), types, stampFile].every((file) => existsSync(file)) &&
  readFileSync(stampFile, 'utf8') === stamp;

if (!isCurrent) {
  await makeTypes();
  const made = `${folder}.${process.pid}`;
  try {
    await bundle(made);
    // Others may read it meanwhile, or make it at the same time, so nothing is missing at any moment: index.html comes
    // after the files that it loads, and what is no longer loaded goes at the end.
    mkdirSync(join(folder, 'assets'), { recursive: true });
    const assets = readdirSync(join(made, 'assets'));
    for (const path of [...assets.map((name) => `assets/${name}`), 'index.html'])
      renameSync(join(made, path), join(folder, path));
    for (const name of readdirSync(join(folder, 'assets')))
      if (!assets.includes(name)) rmSync(join(folder, 'assets', name), { force: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  replaceFile(stampFile, stamp);
}
