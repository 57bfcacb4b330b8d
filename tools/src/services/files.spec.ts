import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { lockFolder, createFolder, writeFileAtomically } from './files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-files-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('createFolder', () => {
  it('creates missing folders that only the owner may enter', () => {
    createFolder(join(folder, 'a/b/c'));
    createFolder(join(folder, 'a/b/c'));
    expect(statSync(join(folder, 'a/b/c')).mode & 0o777).toBe(0o700);
  });

  it.each(['/proc/weir', '/etc/passwd/weir'])('reports that %s cannot be created', (path) => {
    expect(() => {
      createFolder(path);
    }).toThrow(`${path} cannot be made (DATA_DIR): `);
  });
});

describe('lockFolder', () => {
  it('refuses a folder that a running process has locked, and names that process', () => {
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(
      `${folder} is in use by another stack, pid ${process.pid} (DATA_DIR)`,
    );
    lock[Symbol.dispose]();
    lockFolder(folder);
  });

  it('takes over the lock of a process that is gone, even if its id was reused', async () => {
    const child = spawn('true');
    await new Promise((resolve) => child.once('exit', resolve));
    writeFileSync(join(folder, 'stack.lock'), `${child.pid ?? 0} 12345`);
    lockFolder(folder)[Symbol.dispose]();
    writeFileSync(join(folder, 'stack.lock'), `${process.pid} 1`);
    lockFolder(folder);
  });

  it('takes over the lock of a process that has ended and is still listed, as its parent has not asked', async () => {
    // The shell is replaced by a program that never asks for the end of its child, which comes later.
    const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60']);
    onTestFinished(() => void parent.kill());
    const pid = Number(await text(parent.stdout.take(1)));
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    await expect.poll(() => stat()[0], { timeout: 10_000 }).toBe('Z');
    writeFileSync(join(folder, 'stack.lock'), `${pid} ${stat()[19]}`);
    lockFolder(folder)[Symbol.dispose]();
  });
});

describe('writeFileAtomically', () => {
  it('replaces a file by one that only the owner may read', () => {
    const path = join(folder, 'file');
    writeFileAtomically(path, 'one');
    writeFileAtomically(path, 'two');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two', 0o600]);
  });
});
