import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { replaceableFile } from './replaceable-file.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'weir-replaceable-')));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

describe('replaceableFile', () => {
  it('is the path itself of a file, and where there is nothing', async () => {
    writeFileSync(at('file'), '');
    expect(await replaceableFile(at('file'))).toBe(at('file'));
    expect(await replaceableFile(at('nothing'))).toBe(at('nothing'));
    expect(await replaceableFile(at('no/folder'))).toBe(at('no/folder'));
  });

  it('is what a link leads to, also when that is not there yet', async () => {
    writeFileSync(at('real'), '');
    symlinkSync('real', at('link'));
    symlinkSync('absent', at('dangling'));
    expect(await replaceableFile(at('link'))).toBe(at('real'));
    expect(await replaceableFile(at('dangling'))).toBe(at('absent'));
    symlinkSync('dangling', at('twice'));
    expect(await replaceableFile(at('twice'))).toBe(at('absent'));
    mkdirSync(at('mounted/inner'), { recursive: true });
    symlinkSync('mounted/inner', at('backups'));
    symlinkSync('../latest.backup', at('mounted/inner/latest'));
    expect(await replaceableFile(join(at('backups'), 'latest'))).toBe(at('mounted/latest.backup'));
  });

  it('refuses standard output that leads to another process', async () => {
    const child = spawn('cat');
    onTestFinished(() => void child.kill());
    const path = `/proc/${child.pid}/fd/1`;
    await expect(replaceableFile(path)).rejects.toThrow(`${path} is not a regular file`);
  });

  it('refuses what is no file: a pipe, a folder, a device, a link to one', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync('pipe', at('to-pipe'));
    for (const path of [at('pipe'), folder, '/dev/null', at('to-pipe')]) {
      await expect(replaceableFile(path)).rejects.toThrow(`${path} is not a regular file`);
    }
  });
});
