import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The previous release, or the commit that stands for it if there is no release yet. */
export type PreviousRelease =
  | {
      readonly commit: string;
      /** Whether migrations were added since. */
      readonly hasOlderSchema: boolean;
    }
  /** Why there is no previous release. */
  | { readonly none: string };

const MIGRATIONS = 'prisma/migrations';

/** @param repository folder of a clone; its working tree is the next release. */
export function findPreviousRelease(repository: string): PreviousRelease {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: 'pipe' }).trim();
  if (!existsSync(join(repository, '.git'))) return { none: 'this is no git clone' };
  if (git('rev-parse', '--is-shallow-repository') === 'true') {
    return { none: 'a shallow clone does not hold it' };
  }
  const folders = readdirSync(join(repository, MIGRATIONS), { withFileTypes: true });
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const newest = names.sort().at(-1) ?? '';
  const tag = lastRelease(git);
  if (tag === null && names.length < 2) return { none: 'there is only one migration' };
  const commit = git('rev-parse', `${tag ?? before(git, newest)}^{commit}`);
  return { commit, hasOlderSchema: newestMigrationOf(git, commit) !== newest };
}

type Git = (...args: string[]) => string;

/** The last release tag before the checked-out commit. */
function lastRelease(git: Git): string | null {
  const here = git('tag', '--points-at', 'HEAD');
  const tags = git('tag', '--merged', 'HEAD', '--list', 'v[0-9]*', '--sort=-creatordate');
  return tags.split('\n').find((tag) => tag !== '' && !here.split('\n').includes(tag)) ?? null;
}

/** The commit before the one that added a migration; the checked-out commit if the migration is not committed yet. */
function before(git: Git, migration: string): string {
  const added = git(
    'log',
    '-1',
    '--diff-filter=A',
    '--format=%H',
    '--',
    join(MIGRATIONS, migration),
  );
  return added === '' ? 'HEAD' : `${added}^`;
}

function newestMigrationOf(git: Git, commit: string): string {
  const paths = git('ls-tree', '-d', '--name-only', commit, `${MIGRATIONS}/`).split('\n');
  return (
    paths
      .sort()
      .at(-1)
      ?.slice(MIGRATIONS.length + 1) ?? ''
  );
}
