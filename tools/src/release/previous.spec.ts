import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameCommit, releaseChanges } from './changelog.js';
import { findPreviousRelease } from './previous.js';

const UNRELEASED = '# Changelog\n\n## Unreleased\n\n- A change.\n';

describe('findPreviousRelease', () => {
  let folder: string;
  let repository: string;

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  const writeChangelog = (text: string) => {
    writeFileSync(join(repository, 'CHANGELOG.md'), text);
  };
  const addMigration = (name: string) => {
    mkdirSync(join(repository, 'prisma/migrations', name), { recursive: true });
    writeFileSync(join(repository, 'prisma/migrations', name, 'migration.sql'), '');
  };
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'commit');
    return git('rev-parse', 'HEAD');
  };
  /** As `npm run release` does: the commit of the release, then one that names it. */
  const release = (version: string) => {
    const released = releaseChanges(UNRELEASED, version, '2026-11-23');
    writeChangelog(released);
    const hash = commit();
    writeChangelog(nameCommit(released, { version, commit: hash }));
    commit();
    return hash;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-history-'));
    repository = join(folder, 'one');
    mkdirSync(repository);
    git('init', '--quiet');
    addMigration('1_first');
    writeChangelog(UNRELEASED);
    commit();
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('finds none before the first release, whatever was committed and tagged', () => {
    addMigration('2_second');
    commit();
    git('tag', 'v0.0.1');
    const none = { none: 'CHANGELOG.md names no release by its commit yet' };
    expect(findPreviousRelease(repository)).toEqual(none);
  });

  it('finds the newest release that the changelog names by its commit', () => {
    release('0.1.0');
    const second = { version: '0.2.0', commit: release('0.2.0') };
    expect(findPreviousRelease(repository)).toEqual({ ...second, hasOlderSchema: false });
    addMigration('2_second');
    expect(findPreviousRelease(repository)).toEqual({ ...second, hasOlderSchema: true });
  });

  it('finds the release before, where a release itself is checked out', () => {
    const first = release('0.1.0');
    const changelog = nameCommit(releaseChanges(UNRELEASED, '0.1.0', '2026-11-23'), {
      version: '0.1.0',
      commit: first,
    });
    const more = changelog.replace('## Unreleased\n', '## Unreleased\n\n- More.\n');
    writeChangelog(releaseChanges(more, '0.2.0', '2026-12-24'));
    git('checkout', '--quiet', '--detach', commit());
    expect(findPreviousRelease(repository)).toMatchObject({ version: '0.1.0', commit: first });
  });

  it('says what to do in a clone that lacks the commit, and finds none without git', () => {
    const hash = release('0.1.0');
    commit();
    const clone = join(folder, 'shallow');
    git('clone', '--quiet', '--depth=1', `file://${repository}`, clone);
    expect(() => findPreviousRelease(clone)).toThrow(
      `this clone lacks the commit of 0.1.0, ${hash}: fetch the whole history`,
    );
    rmSync(join(clone, '.git'), { recursive: true });
    expect(findPreviousRelease(clone)).toEqual({ none: 'this is no git clone' });
  });
});
