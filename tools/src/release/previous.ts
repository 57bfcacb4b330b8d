import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { print } from '../command.js';
import { cloneRelease } from '../services/clone.js';
import { ROOT } from '../services/files.js';
import { newestRelease, type Release } from './changelog.js';

/** The release that an upgrade to the working tree begins with, or why there is none. */
export type PreviousRelease =
  | (Release & {
      /** Whether migrations were added since. */
      readonly hasOlderSchema: boolean;
    })
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

/** The folder of the previous release, ready to run. Null: there is none, and the run is without it. */
export async function clonePreviousRelease(): Promise<string | null> {
  const found = findPreviousRelease(ROOT);
  if ('none' in found) {
    print(`WITHOUT the previous release: ${found.none}`);
    return null;
  }
  print(`with the previous release, ${found.version} (the first run builds it, in minutes)`);
  return cloneRelease(ROOT, found.commit);
}
