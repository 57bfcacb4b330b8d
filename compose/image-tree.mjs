// `node compose/image-tree.mjs <target> <folder>` copies the files of one image to a folder: compiled code, packages
// and data of one process, and nothing else. The Dockerfile runs it after everything is compiled.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const LOCK = 'package-lock.json';

/** Of the tools, what a backup needs to start the PostgreSQL of a local stack. */
const SERVICES = ['child', 'files', 'ports', 'postgres', 'until'];

/**
 * Target → its workspace, the packages that it needs (default: all), the compiled files of a workspace that it needs
 * (default: all), optional packages that it needs all the same, and data that it reads.
 */
const TARGETS = {
  // The command line has the control plane among its packages.
  'control-plane': {
    workspace: 'apps/cli',
    compiled: {
      tools: [
        'backup',
        'migrate',
        'stack/database.js',
        ...SERVICES.map((name) => `services/${name}.js`),
      ],
    },
    data: ['apps/cli/weir', 'catalogue', 'prisma/migrations'],
  },
  // koffi is called without its install script: the compiled part for each platform is an optional package.
  resolver: { workspace: 'apps/resolver', copied: ['node_modules/@koromix'] },
  'block-page': { workspace: 'apps/block-page' },
  migrate: {
    workspace: 'tools',
    compiled: { tools: ['migrate.js', 'migrate', 'command.js'] },
    packages: ['@weir/ops', 'pg'],
    data: ['prisma/migrations'],
  },
};

/** Files that only a compiler or a debugger reads, and Prisma's query compilers for other databases than PostgreSQL. */
const EXCLUDED = [
  '**/node_modules/.bin',
  'node_modules/.package-lock.json',
  '**/*.tsbuildinfo',
  '**/.tsbuildinfo',
  '**/node_modules/@types',
  '**/*.d.{ts,mts,cts}',
  '**/*.map',
  // For compiling it.
  'node_modules/koffi/{cnoke.cjs,doc,lib,vendor}',
  'node_modules/koffi/src/**/*.{cc,hh,S,asm}',
  // The images have glibc.
  'node_modules/@koromix/*/musl_*',
  'node_modules/@prisma/client/runtime/query_compiler_*.{cockroachdb,mysql,sqlite,sqlserver}.*',
  LOCK,
];

const root = fileURLToPath(new URL('..', import.meta.url));
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const workspaceManifests = globSync(
  workspaces.map((one) => `${one}/package.json`),
  { cwd: root },
);

const [target, folder] = process.argv.slice(2);
if (!Object.hasOwn(TARGETS, target ?? '') || folder === undefined) {
  process.stderr.write(`usage: image-tree.mjs ${Object.keys(TARGETS).join('|')} <folder>\n`);
  process.exit(1);
}
const { workspace, compiled = {}, packages, copied = [], data = [] } = TARGETS[target];

function run(command, args) {
  if (spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status !== 0) process.exit(1);
}

const copy = (path) => cpSync(join(root, path), join(folder, path), { recursive: true });

/**
 * Removes from a manifest what the target does not need. Without this, npm would install a development dependency if
 * another workspace has the same package as a dependency.
 */
function trim(owner, manifest) {
  delete manifest.devDependencies;
  if (owner !== workspace || packages === undefined) return;
  delete manifest.optionalDependencies;
  const kept = Object.entries(manifest.dependencies).filter(([name]) => packages.includes(name));
  manifest.dependencies = Object.fromEntries(kept);
}

function rewrite(path, change) {
  const file = join(folder, path);
  const value = JSON.parse(readFileSync(file, 'utf8'));
  change(value);
  writeFileSync(file, JSON.stringify(value, null, 2));
}

function installPackages() {
  const paths = ['package.json', ...workspaceManifests];
  for (const path of [...paths, LOCK]) copy(path);
  for (const path of paths) rewrite(path, (manifest) => trim(dirname(path), manifest));
  rewrite(LOCK, ({ packages: locked }) => {
    for (const path of paths) trim(dirname(path), locked[dirname(path).replace(/^\.$/, '')]);
  });
  // Without --omit=optional npm installs packages that are optional and for development, such as TypeScript.
  const omit = ['--omit=dev', '--omit=optional', '--ignore-scripts'];
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', `--workspace=${workspace}`, ...omit, ...quiet]);
}

/** Folders of the workspaces that the target needs. npm has linked only these. */
function linkedWorkspaces() {
  const scope = join(folder, 'node_modules', '@weir');
  return readdirSync(scope).map((name) =>
    relative(realpathSync(folder), realpathSync(join(scope, name))),
  );
}

function addCompiledCode() {
  for (const path of linkedWorkspaces()) {
    for (const name of compiled[path] ?? ['']) copy(join(path, 'dist', name));
  }
}

function removeUnusedFiles() {
  const linked = linkedWorkspaces();
  for (const owner of workspaceManifests.map(dirname)) {
    if (!linked.includes(owner)) rmSync(join(folder, owner), { recursive: true, force: true });
  }
  for (const path of globSync(EXCLUDED, { cwd: folder })) {
    rmSync(join(folder, path), { recursive: true, force: true });
  }
}

/**
 * Writes `sbom.cdx.json`: the npm packages of the folder, the workspaces, and Node, in the format of CycloneDX. The
 * packages of the base image are listed in its own package database.
 */
function writeBillOfMaterials() {
  // npm sees a fault in the declarations of types that are not there.
  const options = ['--omit=dev', '--ignore-npm-errors', '--output-reproducible', '--validate'];
  run('cyclonedx-npm', [...options, '--output-file=sbom.cdx.json']);
  rewrite('sbom.cdx.json', (bill) => {
    const own = bill.metadata.component;
    own.name = `weir-${target}`;
    for (const component of bill.components) component.version ??= own.version;
    const node = process.versions.node;
    bill.components.push({
      type: 'platform',
      name: 'node',
      version: node,
      'bom-ref': `node@${node}`,
      licenses: [{ license: { id: 'MIT' } }],
      cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
      purl: `pkg:generic/node@${node}`,
    });
  });
}

installPackages();
for (const path of copied) copy(path);
addCompiledCode();
removeUnusedFiles();
writeBillOfMaterials();
for (const path of data) copy(path);
process.stdout.write(`${basename(folder)}: ${linkedWorkspaces().join(', ')}\n`);
