import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  globSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const VERSION = '9.8.7';
const USER = {
  GIT_AUTHOR_NAME: 'T',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 'T',
  GIT_COMMITTER_EMAIL: 't@example.org',
};

describe('npm run release', () => {
  let clone: string;

  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: clone, encoding: 'utf8', env: { ...process.env, ...USER } });
  const release = async (...args: string[]) => {
    const bin = join(ROOT, 'node_modules/.bin');
    // There is no engine, wherever the test runs.
    const docker = { DOCKER_HOST: 'unix:///nowhere/docker.sock' };
    const env = {
      ...process.env,
      ...USER,
      ...docker,
      PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    };
    const options = { cwd: clone, env };
    return promisify(execFile)(process.execPath, ['tools/release.mjs', ...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
  };

  /** A clone of the working tree, compiled, with a change that is not released. */
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'weir-release-'));
    const script = `git ls-files -z --cached --others --exclude-standard |
      tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"`;
    execFileSync('sh', ['-c', script, 'sh', clone], { cwd: ROOT, stdio: 'pipe' });
    for (const dist of globSync('{{apps,libs}/*,tools}/dist', { cwd: ROOT })) {
      cpSync(join(ROOT, dist), join(clone, dist), { recursive: true });
    }
    git('init', '--quiet', '--initial-branch=main');
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
    writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- A change.\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
  });
  afterEach(() => {
    rmSync(clone, { recursive: true });
  });

  it('says everything that is in the way, and changes nothing', async () => {
    git('checkout', '--quiet', '-b', 'other');
    git('tag', 'v1.0.0');
    writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n');
    const { code, stderr } = await release('--no-images', '1.0.0');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      'release: a release is made on main, not on other',
      'release: there are changes that are not committed',
      'release: the tag v1.0.0 exists',
      'release: CHANGELOG.md has nothing in "## Unreleased"',
    ]);
    expect((await release('1.0')).stderr).toContain('"1.0" is not a version such as 0.1.0');
    expect((await release()).stderr).toContain('name one version (see --help)');
    expect((await release('--help')).stdout).toContain('--no-images');
  });

  it('takes commit and tag back when a step fails', async () => {
    const before = git('rev-parse', 'HEAD');
    writeFileSync(join(clone, 'compose/image-tree.mjs'), 'process.exit(1)');
    git('commit', '--quiet', '--all', '--message', 'broken');
    const broken = git('rev-parse', 'HEAD');
    const { code, stderr } = await release('--no-images', VERSION);
    expect([code, stderr]).toEqual([1, expect.stringContaining('image-tree.mjs')]);
    expect(git('rev-parse', 'HEAD')).toBe(broken);
    expect(git('rev-parse', 'HEAD~1')).toBe(before);
    expect([git('tag'), git('status', '--porcelain')]).toEqual(['', '']);
  });

  it('names the engine that it lacks, and what to do without it', async () => {
    const { stderr } = await release('--dry-run', VERSION);
    expect(stderr).toBe(
      'release: no container engine answers (docker version): start one, or use --no-images\n',
    );
    expect(await release('--dry-run', '--no-images', VERSION)).toMatchObject({ code: 0 });
    expect(git('tag')).toBe('');
  });
});
