import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPreviousRelease } from './find.js';

describe('findPreviousRelease', () => {
  let folder: string;
  let repository: string;

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  const addMigration = (name: string) => {
    mkdirSync(join(repository, 'prisma/migrations', name), { recursive: true });
    writeFileSync(join(repository, 'prisma/migrations', name, 'migration.sql'), '');
  };
  const commit = (text: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', text);
    return git('rev-parse', 'HEAD');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-history-'));
    repository = join(folder, 'one');
    mkdirSync(repository);
    git('init', '--quiet');
    addMigration('1_first');
    commit('first');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('returns the commit before the newest migration if there is no release yet', () => {
    const last = commit('other');
    addMigration('2_second');
    commit('second');
    commit('more');
    expect(findPreviousRelease(repository)).toEqual({ commit: last, hasOlderSchema: true });
  });

  it('returns the checked-out commit if the newest migration is not committed', () => {
    addMigration('2_second');
    expect(findPreviousRelease(repository)).toEqual({
      commit: git('rev-parse', 'HEAD'),
      hasOlderSchema: true,
    });
  });

  it('returns the last release if there is one', () => {
    const released = commit('released');
    git('tag', 'v1.0.0');
    addMigration('2_second');
    commit('second');
    addMigration('3_third');
    commit('third');
    git('tag', 'other');
    const found = { commit: released, hasOlderSchema: true };
    expect(findPreviousRelease(repository)).toEqual(found);
    git('tag', 'v1.1.0');
    expect(findPreviousRelease(repository)).toEqual(found);
  });

  it('says if the last release has the same migrations', () => {
    git('tag', 'v1.0.0');
    const released = git('rev-parse', 'HEAD');
    commit('more');
    expect(findPreviousRelease(repository)).toEqual({ commit: released, hasOlderSchema: false });
  });

  it('returns none if there is only one migration', () => {
    expect(findPreviousRelease(repository)).toEqual({ none: 'there is only one migration' });
  });

  it('returns none in a shallow clone and without git', () => {
    addMigration('2_second');
    commit('second');
    const clone = join(folder, 'shallow');
    git('clone', '--quiet', '--depth=1', `file://${repository}`, clone);
    expect(findPreviousRelease(clone)).toEqual({ none: 'a shallow clone does not hold it' });
    rmSync(join(clone, '.git'), { recursive: true });
    expect(findPreviousRelease(clone)).toEqual({ none: 'this is no git clone' });
  });
});
