import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** A fresh clone of the checked-out commit, in a private temporary folder. */
export class FreshClone {
  readonly folder = join(mkdtempSync(join(tmpdir(), 'weir-clone-')), 'weir');

  constructor() {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, this.folder]);
  }

  /** Changed and untracked files, as `git status` prints them. */
  status(): string {
    return execFileSync('git', ['status', '--porcelain'], { cwd: this.folder, encoding: 'utf8' });
  }

  remove(): void {
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }
}

/** The environment of a new user: without the variables of the npm script and the Node that run this test. */
export function freshUserEnvironment(
  overrides: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(npm_|VITEST|NODE_|INIT_CWD|TEST$|DEV$|PROD$|MODE$)/i.test(entry[0]),
  );
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, ...overrides };
}
