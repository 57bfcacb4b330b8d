import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readChunks } from '../client/image-files.js';
import { HeldDisk } from '../testing/held-disk.js';
import { FileThread } from './file-thread.js';

const WAIT = { timeout: 60_000 };

describe('FileThread', () => {
  let folder: string;
  const data = () => join(folder, 'data');
  let disk: HeldDisk;
  let thread: FileThread;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-files-'));
    mkdirSync(join(folder, 'data'));
    disk = new HeldDisk(join(folder, 'held'));
    thread = new FileThread({ patienceMs: 5_000, program: disk.program });
  });
  afterEach(async () => {
    await thread.close();
    rmSync(folder, { recursive: true });
  });

  it('writes a file of any size, and reads it', async () => {
    const path = join(folder, 'file');
    const pieces = [1, 1024, 9 * 1024 * 1024, 5].map((bytes, i) => new Uint8Array(bytes).fill(i));
    const whole = Buffer.concat(pieces);
    const file = await thread.call('create', path);
    for (const piece of pieces) await thread.call('write', file, piece);
    await thread.call('close', file);
    expect(whole.equals(readFileSync(path))).toBe(true);
    const read = Buffer.concat(await Array.fromAsync(readChunks(thread, path)));
    expect(whole.equals(read)).toBe(true);
  });

  it('does the calls in their order', async () => {
    const path = join(folder, 'file');
    const file = await thread.call('create', path);
    await Promise.all(['a', 'b', 'c'].map((text) => thread.call('write', file, text)));
    expect(readFileSync(path, 'utf8')).toBe('abc');
  });

  it('passes on the code of an error', async () => {
    await expect(thread.call('open', join(folder, 'none'))).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('makes a folder with its parents, and says where none can be', async () => {
    await thread.call('makeFolder', join(folder, 'a/b'));
    await thread.call('makeFolder', join(folder, 'a/b'));
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700);
    await expect(thread.call('makeFolder', '/proc/none/a')).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('gives up a disk that hangs: calls fail at once until it answers again', async () => {
    await thread.call('list', data());
    disk.hold();
    await expect(thread.call('list', data())).rejects.toThrow('the disk does not answer');
    expect(thread.isHanging).toBe(true);
    await expect(thread.call('list', data())).rejects.toThrow('the disk does not answer');
    disk.release();
    await expect.poll(() => thread.isHanging, WAIT).toBe(false);
    expect(await thread.call('list', data())).toEqual([]);
  });

  it('starts another thread after one that has died', async () => {
    await thread.call('list', data());
    disk.hold();
    const call = thread.call('list', data());
    const died = expect(call).rejects.toThrow();
    void thread['thread']?.terminate();
    disk.release();
    await died;
    expect(await thread.call('list', data())).toEqual([]);
  });

  it('ends an idle thread, and starts another with the next call', async () => {
    const idle = new FileThread({ patienceMs: 5_000, idleMs: 50 });
    const path = join(folder, 'file');
    const file = await idle.call('create', path);
    const first = idle['thread'];
    await sleep(300);
    // It has a file open.
    await idle.call('write', file, 'kept');
    expect(idle['thread']).toBe(first);
    await idle.call('close', file);
    await expect.poll(() => idle['thread'], WAIT).toBeNull();
    const again = await idle.call('open', path);
    expect(Buffer.from(await idle.call('read', again, 9)).toString()).toBe('kept');
    await idle.close();
  });

  it('closes while its disk hangs', async () => {
    await thread.call('list', data());
    disk.hold();
    const call = expect(thread.call('list', data())).rejects.toThrow();
    await thread.close();
    await call;
    await expect(thread.call('list', data())).rejects.toThrow('closed');
    disk.release();
  });
});
