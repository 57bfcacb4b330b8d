import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../../..', import.meta.url));

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
