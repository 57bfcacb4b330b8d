import { execFileSync, execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, delimiter } from 'node:path';
import { promisify } from 'node:util';
import { newestRelease, type Release } from '../release/changelog.js';

/** Folders of node_modules that other processes write to at any time. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp', '.vitest-cache']);

/**
 * A clone of a commit, ready to run. It is kept for later runs: to make one takes minutes.
 * @param repository the folder that is cloned. @returns the folder of the clone.
 */
export async function cloneRelease(repository: string, commit: string): Promise<string> {
  const clone = join(tmpdir(), `weir-previous-${userInfo().uid}-${commit}`);
  if (await isOwn(clone)) return clone;
  const made = `${clone}-${process.pid}`;
  try {
    await run('git', ['clone', '--quiet', '--no-checkout', repository, made], repository);
    await run('git', ['checkout', '--quiet', '--detach', commit], made);
    await shareDependencies(repository, made);
    await run('node', ['tools/setup.mjs'], made);
    await rename(made, clone);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    // Another run may have been quicker.
    if (!(await isOwn(clone))) throw error;
  }
  return clone;
}

/**
 * Copies what is installed already, so that the set-up does not install it again, if the commit depends on the same.
 */
export async function shareDependencies(repository: string, made: string): Promise<void> {
  const lockOf = (folder: string) => readFile(join(folder, 'package-lock.json'), 'utf8');
  if ((await lockOf(repository)) !== (await lockOf(made))) return;
  const installed = join(repository, 'node_modules');
  const names = (await readdir(installed)).filter((name) => !CACHES.has(name));
  await mkdir(join(made, 'node_modules'));
  await run('cp', ['--archive', '--', ...names, join(made, 'node_modules')], installed);
}

function run(command: string, args: readonly string[], cwd: string) {
  return promisify(execFile)(command, args, { cwd, env: environment() });
}

async function isOwn(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => null))?.uid === userInfo().uid;
}

/** Neither the npm script nor the Node that this process runs under. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_|INIT_CWD|TEST$)/i.test(name),
  );
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const PATH = folders.filter((one) => !one.includes('node_modules')).join(delimiter);
  return { ...Object.fromEntries(kept), PATH };
}

/** The release that an upgrade to the working tree begins with. */
export type PreviousRelease =
  | (Release & {
      /** Whether migrations were added since. */
      readonly hasOlderSchema: boolean;
    })
  /** Why there is no previous release. */
  | { readonly none: string };

const MIGRATIONS = 'prisma/migrations';

/**
 * The newest release that CHANGELOG.md names by its commit.
 * @param repository folder of a clone; its working tree is the next release.
 * @throws Error with one line when the clone does not hold the commit
 */
export function findPreviousRelease(repository: string): PreviousRelease {
  const release = newestRelease(readFileSync(join(repository, 'CHANGELOG.md'), 'utf8'));
  if (release === null) return { none: 'CHANGELOG.md names no release by its commit yet' };
  if (!existsSync(join(repository, '.git'))) return { none: 'this is no git clone' };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: 'pipe' });
  try {
    git('cat-file', '-e', `${release.commit}^{commit}`);
  } catch {
    throw new Error(
      `this clone lacks the commit of ${release.version}, ${release.commit}: fetch the whole history`,
    );
  }
  const then = git('ls-tree', '-d', '--name-only', release.commit, `${MIGRATIONS}/`).split('\n');
  const folders = readdirSync(join(repository, MIGRATIONS), { withFileTypes: true });
  const now = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return {
    ...release,
    hasOlderSchema: now.some((name) => !then.includes(`${MIGRATIONS}/${name}`)),
  };
}
