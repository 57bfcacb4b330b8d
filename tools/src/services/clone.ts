import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

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
  return promisify(execFile)(command, args, { cwd, env: freshUserEnvironment() });
}

async function isOwn(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => null))?.uid === userInfo().uid;
}

/** The environment of a new user: without the variables of the npm script and the Node that run this process. */
export function freshUserEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(npm_|VITEST|NODE_|INIT_CWD|TEST$|DEV$|PROD$|MODE$)/i.test(entry[0]),
  );
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const PATH = folders.filter((one) => !one.includes('node_modules')).join(delimiter);
  return { ...Object.fromEntries(kept), PATH };
}
