import { Validation, Spec } from '@cyclonedx/cyclonedx-library';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const run = promisify(execFile);
/** Target → the script that its image runs. */
const ENTRIES = [
  ...read('Dockerfile').matchAll(
    /AS ([a-z-]+)\n(?:(?!FROM)[^\n]*\n)*ENTRYPOINT \["node", "(.*)"\]/g,
  ),
].map(([, target, entry]) => [target, entry]);
/** A file that a compiled one names by its URL, such as the code of a thread. */
const OWN_URL = /new URL\('(\.[^']+\.js)', import\.meta\.url\)/g;

/** The folder of the Node that runs this. */
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
/** Commands of `weir` that load all of their modules, and why they end where nothing runs. */
const WITHOUT_SERVERS = {
  'repair digest': 'DATABASE_URL',
  'backup /tmp/nowhere/file': 'there is no database',
  'catalogue show *.example': 'the domain may hold letters',
  'token check /nowhere': 'ENOENT',
  resolvers: 'set WEIR_URL and WEIR_TOKEN',
};

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly components?: readonly Component[];
}

it('every image has an entry point', () => {
  expect(ENTRIES.map(([target]) => target)).toEqual([
    'control-plane',
    'resolver',
    'block-page',
    'migrate',
  ]);
});

describe.each(ENTRIES)('the files of the image %s', (target, entry) => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), `weir-image-${target}-`));
    await run(process.execPath, ['compose/image-tree.mjs', target, folder], { cwd: ROOT });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it.each(['--help', '--version'])('are enough for %s', async (argument) => {
    const script = join(folder, entry);
    const { stdout } = await run(process.execPath, [script, argument], { cwd: '/', env: {} });
    expect(stdout).toContain(
      argument === '--help' ? 'Arguments: none to run' : `${target} ${version}\n`,
    );
  });

  if (target === 'control-plane') {
    it('are enough for the command line', async () => {
      const weir = join(folder, 'apps/cli/weir');
      const call = (...argv: string[]) => run(weir, argv, { cwd: '/', env: { PATH } });
      expect((await call('--version')).stdout).toBe(`${version}\n`);
      // Everything that a command loads is there: these load all, and end for want of a database or of a control plane.
      for (const [line, reason] of Object.entries(WITHOUT_SERVERS)) {
        await expect(call(...line.split(' '))).rejects.toThrow(reason);
      }
    });
  }

  it('have every module that they import', () => {
    const own = globSync('{apps/*,libs/*,tools}/dist/**/*.js', { cwd: folder });
    expect(own).toContain(entry);
    const imports = own.flatMap((path) =>
      importsOf(readFileSync(join(folder, path), 'utf8')).map((name) => ({ path, name })),
    );
    expect(imports.length).toBeGreaterThan(own.length);
    expect(imports.filter(({ path, name }) => !isThere(path, name))).toEqual([]);
  });

  /** A file beside the one that imports it, or a package that Node finds from there. */
  function isThere(path: string, name: string): boolean {
    if (name.startsWith('.')) return existsSync(join(folder, dirname(path), name));
    if (isBuiltin(name)) return true;
    const [, packageName] = /^((?:@[^/]+\/)?[^/]+)/.exec(name)!;
    const parts = dirname(path).split('/');
    return parts.some((_, i) =>
      existsSync(
        join(folder, ...parts.slice(0, parts.length - i - 1), 'node_modules', packageName),
      ),
    );
  }

  it('have a bill of materials of CycloneDX, which names every package, its version, and Node', async () => {
    const text = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8');
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(text)).toBeNull();
    expect(text).not.toContain(folder);
    const bill = JSON.parse(text) as {
      metadata: { component: Component };
      components: Component[];
    };
    expect(bill.metadata.component).toMatchObject({ name: `weir-${target}`, version });
    const listed = flatten(bill.components).map(titleOf).sort();
    expect(listed).toContain(`node@${process.versions.node}`);
    const installed = [...packagesOf(folder), `node@${process.versions.node}`];
    expect([...new Set(listed)]).toEqual([...new Set(installed)].sort());
  });
});

/** What a compiled file imports, at its start or later, and the files that it names by their URL. */
function importsOf(code: string): string[] {
  const imported = ts.preProcessFile(code).importedFiles.map(({ fileName }) => fileName);
  return [...imported, ...[...code.matchAll(OWN_URL)].map(([, path]) => path)];
}

function flatten(components: readonly Component[]): Component[] {
  return components.flatMap((one) => [one, ...flatten(one.components ?? [])]);
}

function titleOf({ group, name, version: of }: Component): string {
  return `${group === undefined ? '' : `${group}/`}${name}@${of}`;
}

/** Installed packages and linked workspaces. A workspace has the version of all. */
function packagesOf(folder: string): string[] {
  const manifests = globSync('**/node_modules/{*,@*/*}', { cwd: folder })
    .map((path) => join(folder, path, 'package.json'))
    .filter((path) => existsSync(path));
  expect(manifests.length).toBeGreaterThan(20);
  return manifests.map((path) => {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Component;
    return `${manifest.name}@${manifest.version ?? version}`;
  });
}
