import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NEW_SNAPSHOT } from '../protocol/protocol.js';
import { HeldDisk } from '../testing/held-disk.js';
import { MemoryLog } from '../testing/memory-log.js';
import { CacheFolderError, CacheFolder } from './cached-file.js';
import { type CachedSnapshot, SnapshotCache } from './snapshot-cache.js';

const WAIT = { timeout: 60_000 };
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const MAX_AGE_MS = 60_000;
const MAX_REVISIONS = 100;

describe('SnapshotCache', () => {
  let folder: string;
  let source: MemoryLog;
  let nowMs: number;
  let snapshots: SnapshotCache;
  const of = (inFolder: string) =>
    new SnapshotCache({
      folder: inFolder,
      source,
      log,
      maxAgeMs: MAX_AGE_MS,
      maxRevisions: MAX_REVISIONS,
      nowMs: () => nowMs,
    });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-snapshots-'));
    source = new MemoryLog();
    for (let profile = 1; profile <= 5; profile++) source.commit(profile, 1);
    nowMs = 0;
    snapshots = of(folder);
  });
  afterEach(() => {
    snapshots.close();
    rmSync(folder, { recursive: true });
  });

  const textOf = async (snapshot: CachedSnapshot) => {
    const bytes = Buffer.concat(await Array.fromAsync(snapshot.read(0, snapshot.sizeBytes)));
    return zstdDecompressSync(bytes).toString();
  };
  /** The revision that is sent. */
  const revisionFor = async (atLeast: number) => {
    const snapshot = await snapshots.get(atLeast);
    const text = await textOf(snapshot);
    snapshot.release();
    const head = JSON.parse(text.slice(0, text.indexOf('\n'))) as { revision: number };
    expect(head.revision).toBe(snapshot.head.revision);
    return head.revision;
  };

  it('reads the source once for all that ask, at the same time and later', async () => {
    const revisions = await Promise.all(Array.from({ length: 20 }, () => revisionFor(0)));
    expect(new Set(revisions)).toEqual(new Set([5]));
    source.commit(6, 1);
    expect([await revisionFor(0), await revisionFor(5), source.snapshotsRead]).toEqual([5, 5, 1]);
  });

  it('makes a new one for followers that need a later revision, and shares it too', async () => {
    await revisionFor(0);
    source.commit(6, 1);
    const revisions = await Promise.all([6, 6, 6].map(revisionFor));
    expect([revisions, source.snapshotsRead]).toEqual([[6, 6, 6], 2]);
  });

  it('sends no snapshot that was begun before a later change to a follower that needs this change', async () => {
    const release = source.holdSnapshots();
    const first = revisionFor(0);
    await expect.poll(() => source.snapshotsRead, WAIT).toBe(1);
    source.commit(6, 1);
    const later = [revisionFor(6), revisionFor(6)];
    release();
    expect([await first, await Promise.all(later), source.snapshotsRead]).toEqual([5, [6, 6], 2]);
  });

  it.each([
    ['time', () => void (nowMs += MAX_AGE_MS * 1.5)],
    ['revisions', () => Array.from({ length: MAX_REVISIONS }, () => source.commit(1, 2))],
  ])('is replaced after a window of %s, and sent meanwhile', async (_, pass) => {
    await revisionFor(0);
    source.commit(6, 1);
    pass();
    expect(await revisionFor(0)).toBe(5);
    await expect.poll(() => snapshots.cached?.head.revision, WAIT).toBe(source.revision);
    expect([await revisionFor(0), source.snapshotsRead]).toEqual([source.revision, 2]);
  });

  it('is not sent after four windows with changes, and is sent at any age without a change', async () => {
    await revisionFor(0);
    nowMs += MAX_AGE_MS * 5;
    expect([await revisionFor(0), source.snapshotsRead]).toEqual([5, 1]);
    source.commit(6, 1);
    expect([await revisionFor(0), source.snapshotsRead]).toEqual([6, 2]);
  });

  it('is sent for a while when it is there, although making it took longer than four windows', async () => {
    const release = source.holdSnapshots();
    const first = revisionFor(0);
    await expect.poll(() => source.snapshotsRead, WAIT).toBe(1);
    const longMs = MAX_AGE_MS * 5;
    nowMs += longMs;
    for (let i = 0; i < MAX_REVISIONS * 5; i++) source.commit(1, 2);
    release();
    await first;
    nowMs += longMs;
    expect([await revisionFor(NEW_SNAPSHOT), await revisionFor(0)]).toEqual([5, 5]);
    await expect.poll(() => snapshots.cached?.head.revision, WAIT).toBe(source.revision);
  });

  it.each([
    ['pruned behind it', () => source.prune()],
    ['restored', () => source.restore(3)],
    ['set back behind it', () => source.setBack(3)],
    [
      'set back, and has gone on',
      () => (source.setBack(3), [7, 8, 9].map((n) => source.commit(n, 2))),
    ],
    ['without a revision before', () => (source.lose(5), source.commit(7, 1))],
  ])('is not sent any more when the log was %s', async (_, change) => {
    await revisionFor(0);
    source.commit(6, 1);
    change();
    expect([await revisionFor(0), source.snapshotsRead]).toEqual([source.revision, 2]);
  });

  it('is made again for a follower that could not use it, but only once for many', async () => {
    await revisionFor(0);
    nowMs += 20_000;
    const anew = await Promise.all(Array.from({ length: 10 }, () => revisionFor(NEW_SNAPSHOT)));
    nowMs += 5_000;
    expect([anew.length, await revisionFor(NEW_SNAPSHOT), source.snapshotsRead]).toEqual([
      10, 5, 2,
    ]);
    nowMs += 10_000;
    expect([await revisionFor(NEW_SNAPSHOT), source.snapshotsRead]).toEqual([5, 3]);
  });

  it('is not sent to a follower at the head, however young it is, when it is older', async () => {
    await revisionFor(0);
    source.commit(6, 1);
    expect([await revisionFor(7), await revisionFor(7), source.snapshotsRead]).toEqual([6, 6, 2]);
  });

  it('is made once for all followers of a log that was set back behind them', async () => {
    await revisionFor(0);
    nowMs += 20_000;
    expect([await revisionFor(20), await revisionFor(21), source.snapshotsRead]).toEqual([5, 5, 1]);
  });

  it('is read to its end by a follower that began before there was a new one', async () => {
    const old = await snapshots.get(0);
    source.commit(6, 1);
    expect(await revisionFor(6)).toBe(6);
    expect(await textOf(old)).toContain('"revision":5');
    old.release();
    expect(old.isLost).toBe(true);
  });

  it('leaves no file behind, so that a killed process leaves none, and replicas can share a folder', async () => {
    const other = of(folder);
    await revisionFor(0);
    const theirs = await other.get(0);
    expect(readdirSync(folder)).toEqual([]);
    expect(await textOf(theirs)).toContain('"revision":5');
    theirs.release();
    other.close();
    expect(await revisionFor(0)).toBe(5);
  });

  it('leaves nothing behind when its process is killed while it writes', async () => {
    const program = `
      import { CacheFolder } from ${JSON.stringify(new URL('../../dist/server/cached-file.js', import.meta.url).href)};
      async function* bytes() {
        for (;;) { yield new Uint8Array(1_000_000); process.stdout.write('.'); await new Promise(setImmediate); }
      }
      await new CacheFolder(${JSON.stringify(folder)}).write(bytes());`;
    const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails with an error of its own when the disk does, and not for a while after that', async () => {
    const nowhere = join(folder, 'file');
    writeFileSync(nowhere, '');
    snapshots = of(nowhere);
    await expect(snapshots.get(0)).rejects.toThrow(CacheFolderError);
    rmSync(nowhere);
    await expect(snapshots.get(0)).rejects.toThrow(CacheFolderError);
    nowMs += 31_000;
    expect(await revisionFor(0)).toBe(5);
  });

  it('passes on the error of the source, and asks it again', async () => {
    const read = source.snapshot.bind(source);
    source.snapshot = () => {
      throw new Error('an outage');
    };
    await expect(snapshots.get(0)).rejects.toThrow('an outage');
    source.snapshot = read;
    expect(await revisionFor(0)).toBe(5);
  });

  it('is made again, and not sent, when its bytes have changed on the disk', async () => {
    const damaged = await snapshots.get(0);
    damaged['checksums'][0]++;
    await expect(textOf(damaged)).rejects.toThrow(CacheFolderError);
    damaged.release();
    expect([await revisionFor(0), source.snapshotsRead]).toEqual([5, 2]);
  });
});

describe('CacheFolder', () => {
  it('gives back any part of what was written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-cached-file-'));
    const pieces = [1, 300_000, 7, 262_144, 500_000].map((n, i) => new Uint8Array(n).fill(i + 1));
    const whole = Buffer.concat(pieces);
    const file = await new CacheFolder(folder).write(Readable.from(pieces));
    expect(file.sizeBytes).toBe(whole.length);
    const part = async (start: number, end: number) =>
      Buffer.concat(await Array.fromAsync(file.read(start, end)));
    for (const [start, end] of [
      [0, whole.length],
      [0, 0],
      [262_143, 262_145],
      [262_144, 524_288],
      [whole.length - 1, whole.length],
    ]) {
      expect((await part(start, end)).equals(whole.subarray(start, end))).toBe(true);
    }
    await file.close();
    await expect(part(0, 1)).rejects.toThrow(CacheFolderError);
    rmSync(folder, { recursive: true });
  });

  it('leaves a disk alone that does not answer, and uses it again when it does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-cached-held-'));
    const disk = new HeldDisk(join(folder, 'held'));
    const cacheFolder = new CacheFolder(join(folder, 'data'), disk.program, 3_000);
    const write = () => cacheFolder.write(Readable.from([new Uint8Array(10)]));
    const failThree = () =>
      Promise.all([1, 2, 3].map(() => expect(write()).rejects.toThrow(CacheFolderError)));
    disk.hold();
    await failThree(); // after three seconds, all at the same time
    await failThree();
    expect(cacheFolder['threads'].length).toBeLessThanOrEqual(3);
    disk.release();
    await expect.poll(() => write().then((file) => file.sizeBytes, String), WAIT).toBe(10);
    rmSync(folder, { recursive: true });
  });
});
