import { type Change, RowError } from '@weir/config-model';
import fc from 'fast-check';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { FileThread } from '../files/file-thread.js';
import { plainPart } from '../testing/plain-part.js';
import { SnapshotDisk } from './snapshot-disk.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const snapshotAt = (revision: number): SnapshotPart[] => [
  { type: 'head', lineage: LINEAGE, revision, digest: '0123456789abcdef' },
  {
    type: 'rows',
    kind: 'blockPage',
    rows: [
      [1, 0],
      [2, 1],
    ],
  },
  { type: 'rows', kind: 'domainRule', rows: [[1, revision, 1]] },
];
const change = (revision: number): Change => ({
  revision,
  digest: '00000000000000ff',
  operations: [{ type: 'put', kind: 'blockPage', entity: { id: revision, type: 0 } }],
});

const prlimit = spawnSync('prlimit', ['--version']).status === 0;

/** Waits for `work` while no file may grow beyond this size, as on a full disk. */
async function withFileLimit(bytes: number | string, work: () => Promise<void>): Promise<void> {
  const limit = (soft: number | string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${soft}:`]);
  limit(bytes);
  try {
    await work();
  } finally {
    limit('unlimited');
  }
}

async function* from<T>(items: Iterable<T>): AsyncGenerator<T> {
  await Promise.resolve();
  yield* items;
}

describe('SnapshotDisk', () => {
  let folder: string;
  let errors: string[];
  let log: FeedLogger;
  /** All disks of a test read with it: a thread for each of hundreds takes too long. */
  let files: FileThread;
  const disks: SnapshotDisk[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    errors = [];
    const note = (_fields: object, message: string): void => void errors.push(message);
    log = { info: () => undefined, warn: note, error: note };
    files = new FileThread({ patienceMs: 5_000 });
  });
  afterEach(async () => {
    await Promise.all(disks.splice(0).map((disk) => disk.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const openDisk = async (longJournalBytes?: number) => {
    const disk = new SnapshotDisk({
      folder,
      log,
      files,
      ...(longJournalBytes !== undefined && { longJournalBytes }),
    });
    disks.push(disk);
    await disk.read();
    return disk;
  };
  const record = async (
    disk: SnapshotDisk,
    revision: number,
    meanwhile: () => unknown = () => undefined,
  ) => {
    const recording = disk.record(from(snapshotAt(revision)));
    const parts = await Array.fromAsync(recording.parts);
    await meanwhile();
    return { parts, isKept: await recording.commit() };
  };
  const append = async (disk: SnapshotDisk, ...revisions: number[]) => {
    for (const revision of revisions) await disk.append(change(revision));
    await disk.stored();
    // A busy machine's disk may be late.
    await expect.poll(() => disk.canRecord, { timeout: 20_000 }).toBe(true);
  };
  const readBack = async () => {
    const state = await new SnapshotDisk({ folder, log, files }).read();
    if (state === null) return null;
    return {
      parts: await Array.fromAsync(state.parts, plainPart),
      revisions: state.changes.map(({ revision }) => revision),
    };
  };

  it('is empty at first', async () => {
    expect(await readBack()).toBeNull();
  });

  it('returns the snapshot and the changes since, even if it was not closed', async () => {
    const disk = await openDisk();
    expect(await record(disk, 7)).toEqual({ parts: snapshotAt(7), isKept: true });
    await append(disk, 8, 9);
    expect(await readBack()).toEqual({ parts: snapshotAt(7), revisions: [8, 9] });
  });

  it('keeps the changes that were appended while a new snapshot was recorded', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    await record(disk, 9, () => append(disk, 9, 10));
    await append(disk, 11);
    expect(await readBack()).toEqual({ parts: snapshotAt(9), revisions: [10, 11] });
  });

  it('keeps the old snapshot when a recording is discarded', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    const recording = disk.record(from(snapshotAt(9)));
    await Array.fromAsync(recording.parts);
    await recording.discard();
    expect((await readBack())?.parts).toEqual(snapshotAt(7));
    await append(disk, 8);
    expect(await readBack()).toEqual({ parts: snapshotAt(7), revisions: [8] });
  });

  it('discards a recording when another one has begun since', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    const slow = disk.record(from(snapshotAt(8)));
    const slowParts = slow.parts[Symbol.asyncIterator]();
    await slowParts.next();
    await record(disk, 9, () => append(disk, 10));
    while (!(await slowParts.next()).done);
    expect(await slow.commit()).toBe(false);
    await append(disk, 11);
    expect(await readBack()).toEqual({ parts: snapshotAt(9), revisions: [10, 11] });
    expect(readdirSync(folder).sort()).toEqual(['journal', 'snapshot']);
  });

  it('reads a new snapshot with the old journal, as after a crash between the two renames', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    renameSync(join(folder, 'journal'), join(folder, 'journal.old'));
    await record(disk, 8);
    renameSync(join(folder, 'journal.old'), join(folder, 'journal'));
    expect(await readBack()).toEqual({ parts: snapshotAt(8), revisions: [8] });
  });

  it('ignores the last line of the journal when it is truncated anywhere', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8, 9);
    const journal = join(folder, 'journal');
    const { length } = readFileSync(journal);
    for (let bytes = length - 1; bytes > length / 2; bytes--) {
      truncateSync(journal, bytes);
      expect((await readBack())?.revisions).toEqual([8]);
    }
    expect(errors[0]).toContain('damaged line');
  });

  it('ignores everything after a damaged line of the journal', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8, 9, 10);
    const journal = join(folder, 'journal');
    const lines = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, lines.with(1, lines[1].replace('"put"', '"PUT"')).join('\n'));
    expect((await readBack())?.revisions).toEqual([8]);
  });

  it.each([
    ['whole', 9, [8, 9, 10]],
    ['put in force in part', 8, [8, 10]],
    ['put in force not at all', 7, [10]],
  ])('goes on with a journal that was %s', async (_how, revision, revisions) => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8, 9);
    const next = await openDisk();
    next.resume(revision);
    await append(next, 10);
    expect((await readBack())?.revisions).toEqual(revisions);
  });

  it('appends after the last complete line of a journal', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8, 9);
    const journal = join(folder, 'journal');
    truncateSync(journal, readFileSync(journal).length - 5);
    const next = await openDisk();
    next.resume(8);
    await append(next, 9);
    expect((await readBack())?.revisions).toEqual([8, 9]);
    expect(errors).toHaveLength(1);
  });

  it('asks for a new snapshot when the journal that it continues is long', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await append(disk, 8, 9, 10, 11);
    const next = await openDisk(300);
    next.resume(11);
    expect(next.isRecordingDue).toBe(true);
  });

  it('rejects a snapshot in which any byte is changed, or that is truncated anywhere', async () => {
    await record(await openDisk(), 7);
    const path = join(folder, 'snapshot');
    const whole = readFileSync(path);
    const index = fc.nat(whole.length - 1);
    await fc.assert(
      fc.asyncProperty(index, fc.integer({ min: 1, max: 255 }), index, async (at, flip, length) => {
        const damaged = Buffer.from(whole);
        damaged[at] ^= flip;
        writeFileSync(path, damaged);
        await expect(readBack()).rejects.toThrow(RowError);
        writeFileSync(path, whole.subarray(0, length));
        await expect(readBack()).rejects.toThrow(RowError);
      }),
    );
  });

  it('renames damaged files to *.damaged', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    await disk.setAside('for this test');
    expect(await readBack()).toBeNull();
    expect(readFileSync(join(folder, 'snapshot.damaged'), 'utf8')).toContain('weir-snapshot');
  });

  it('asks for a new snapshot when the journal is long, and not again while one is recorded', async () => {
    const disk = await openDisk(300);
    await record(disk, 7);
    await append(disk, 8);
    expect(disk.isRecordingDue).toBe(false);
    await append(disk, 9, 10, 11);
    expect(disk.isRecordingDue).toBe(true);
    const recording = disk.record(from(snapshotAt(11)));
    expect(disk.isRecordingDue).toBe(false);
    await Array.fromAsync(recording.parts);
    await recording.commit();
    expect(disk.isRecordingDue).toBe(false);
  });

  it('passes the parts on when the disk fails, logs the error, and asks for another snapshot', async () => {
    const disk = await openDisk();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file in the place of the folder');
    expect(await record(disk, 7)).toEqual({ parts: snapshotAt(7), isKept: false });
    await append(disk, 8);
    expect(errors).toEqual(['the configuration cannot be kept on disk']);
    expect(disk.isRecordingDue).toBe(true);
    rmSync(folder);
    await record(disk, 8);
    expect(await readBack()).toEqual({ parts: snapshotAt(8), revisions: [] });
  });

  it('continues the old snapshot and its journal when the new one cannot replace it', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    renameSync(join(folder, 'snapshot'), join(folder, 'kept'));
    mkdirSync(join(folder, 'snapshot'));
    expect(await record(disk, 8)).toMatchObject({ isKept: false });
    rmSync(join(folder, 'snapshot'), { recursive: true });
    renameSync(join(folder, 'kept'), join(folder, 'snapshot'));
    await append(disk, 8);
    expect(await readBack()).toEqual({ parts: snapshotAt(7), revisions: [8] });
    expect(disk.isRecordingDue).toBe(false);
  });

  it('passes the parts on even when the disk does not allow a recording to be removed', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    const elsewhere = `${folder}-elsewhere`;
    const recorded = await record(disk, 9, () => {
      renameSync(folder, elsewhere);
      writeFileSync(folder, 'a file in the place of the folder');
    });
    expect(recorded).toEqual({ parts: snapshotAt(9), isKept: false });
    rmSync(folder);
    renameSync(elsewhere, folder);
    expect((await readBack())?.parts).toEqual(snapshotAt(7));
  });

  it('notices that its folder was removed, and creates it again', async () => {
    const disk = await openDisk();
    await record(disk, 7);
    rmSync(folder, { recursive: true });
    await append(disk, 8);
    expect(disk.isRecordingDue).toBe(true);
    await record(disk, 8);
    await append(disk, 9);
    expect(disk.isRecordingDue).toBe(false);
    expect(await readBack()).toEqual({ parts: snapshotAt(8), revisions: [9] });
  });

  it(
    'wants another snapshot when the disk took a part of a change, and writes nothing behind it',
    { skip: !prlimit, meta: { needs: 'prlimit' } },
    async () => {
      const disk = await openDisk();
      await record(disk, 7);
      await append(disk, 8);
      const { length } = readFileSync(join(folder, 'journal'));
      await withFileLimit(length + 20, () => append(disk, 9));
      await append(disk, 10);
      expect(errors).toEqual(['the configuration cannot be kept on disk']);
      expect(readFileSync(join(folder, 'journal'))).toHaveLength(length + 20);
      expect(disk.isRecordingDue).toBe(true);
      expect((await readBack())?.revisions).toEqual([8]);
    },
  );
});
