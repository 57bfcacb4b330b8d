import { type Change, RowError } from '@weir/config-model';
import fc from 'fast-check';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { plainPart } from '../testing/plain-part.js';
import { ConfigurationStore } from './configuration-store.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const DIGEST = '0123456789abcdef';
const LATER_DIGEST = '00000000000000ff';
const CATALOGUE = [3, 1, 2, 3, 4, 5, 6, 7, 8, 1000];
const snapshotAt = (revision: number): SnapshotPart[] => [
  { type: 'head', lineage: LINEAGE, revision, digest: DIGEST },
  { type: 'rows', kind: 'profile', rows: [[1, null, 0, 1, 12, 0]] },
  { type: 'rows', kind: 'domainRule', rows: [[1, revision, 1]] },
  { type: 'rows', kind: 'catalogue', rows: [CATALOGUE] },
];
/** Replaces the catalogue, and puts a block page that the next change deletes. */
const change = (revision: number): Change => ({
  revision,
  digest: LATER_DIGEST,
  operations: [
    { type: 'put', kind: 'blockPage', entity: { id: revision, type: 0 } },
    { type: 'delete', kind: 'blockPage', key: { id: revision - 1 } },
  ],
});
/** What the snapshot of a revision and the changes since come to. */
const expected = (snapshot: number, revision: number): SnapshotPart[] => {
  const [, ...rows] = snapshotAt(snapshot);
  const digest = revision === snapshot ? DIGEST : LATER_DIGEST;
  const pages: SnapshotPart = { type: 'rows', kind: 'blockPage', rows: [[revision, 0]] };
  return [
    { type: 'head', lineage: LINEAGE, revision, digest },
    ...(revision === snapshot ? [] : [pages]),
    ...rows,
  ];
};

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

describe('ConfigurationStore', () => {
  let folder: string;
  let errors: string[];
  let log: FeedLogger;
  let copies = 0;
  const disks: ConfigurationStore[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    errors = [];
    const note = (_fields: object, message: string): void => void errors.push(message);
    log = { info: () => undefined, warn: note, error: note };
  });
  afterEach(async () => {
    await Promise.all(disks.splice(0).map((disk) => disk.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const openDisk = async (at = folder) => {
    const disk = new ConfigurationStore({ folder: at, log });
    disks.push(disk);
    const parts = await disk.read();
    return { disk, parts: parts && (await Array.fromAsync(parts, plainPart)) };
  };
  const record = async (
    disk: ConfigurationStore,
    revision: number,
    meanwhile: () => unknown = () => undefined,
  ) => {
    const recording = disk.record(from(snapshotAt(revision)));
    const parts = await Array.fromAsync(recording.parts);
    await meanwhile();
    return { parts, isKept: await recording.commit() };
  };
  const append = async (disk: ConfigurationStore, ...revisions: number[]) => {
    for (const revision of revisions) disk.append(change(revision));
    await disk.stored();
    // A busy machine's disk may be late.
    await expect.poll(() => disk['isBehind']).toBe(false);
  };
  /** What a start would find if the process were killed now. */
  const readBack = async (at = folder) => {
    const copy = `${folder}-${copies++}`;
    cpSync(at, copy, { recursive: true });
    try {
      const { disk, parts } = await openDisk(copy);
      await disk.close();
      return parts;
    } finally {
      rmSync(copy, { recursive: true });
    }
  };

  it('is empty at first', async () => {
    expect((await openDisk()).parts).toBeNull();
  });

  it('has the snapshot with the changes since when the process is killed at any point', async () => {
    const { disk } = await openDisk();
    expect(await record(disk, 7)).toEqual({ parts: snapshotAt(7), isKept: true });
    expect(await readBack()).toEqual(expected(7, 7));
    await append(disk, 8, 9);
    expect(await readBack()).toEqual(expected(7, 9));
    expect(statSync(join(folder, 'configuration')).mode & 0o777).toBe(0o600);
  });

  it('goes on with what it had after a clean end', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    await disk.close();
    const next = await openDisk();
    expect(next.parts).toEqual(expected(7, 8));
    next.disk.resume();
    await append(next.disk, 9);
    expect(await readBack()).toEqual(expected(7, 9));
  });

  it('has the changes that were appended while a new snapshot was recorded', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    await record(disk, 9, () => append(disk, 9, 10));
    await append(disk, 11);
    expect(await readBack()).toEqual(expected(9, 11));
  });

  it('has the whole old configuration while a new snapshot is recorded, and when that is discarded', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    const recording = disk.record(from(snapshotAt(9)));
    await Array.fromAsync(recording.parts);
    expect(await readBack()).toEqual(expected(7, 7));
    await recording.discard();
    await append(disk, 8);
    expect(await readBack()).toEqual(expected(7, 8));
    expect(readdirSync(folder).sort()).toEqual(['configuration', 'configuration-wal']);
  });

  it('discards a recording when another one has begun since', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    const slow = disk.record(from(snapshotAt(8)));
    const slowParts = slow.parts[Symbol.asyncIterator]();
    await slowParts.next();
    await record(disk, 9, () => append(disk, 10));
    while (!(await slowParts.next()).done);
    expect(await slow.commit()).toBe(false);
    await append(disk, 11);
    expect(await readBack()).toEqual(expected(9, 11));
  });

  it('does not continue with a change that does not follow', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await append(disk, 9);
    expect(errors).toEqual(['the configuration cannot be kept on disk']);
    expect([disk.isCurrent, disk.isRecordingDue]).toEqual([false, true]);
    expect(await readBack()).toEqual(expected(7, 7));
  });

  it('rejects a file with a changed byte, and one that is truncated, unless nothing is missing', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    await disk.close();
    const path = join(folder, 'configuration');
    const whole = readFileSync(path);
    const index = fc.nat(whole.length - 1);
    // The target computes the digest of the rows. Nothing else protects the head.
    const readHead = async () => (await readBack())?.[0];
    const head = expected(7, 8)[0];
    await fc.assert(
      fc.asyncProperty(index, fc.integer({ min: 1, max: 255 }), index, async (at, flip, length) => {
        const damaged = Buffer.from(whole);
        damaged[at] ^= flip;
        for (const bytes of [damaged, whole.subarray(0, length)]) {
          writeFileSync(path, bytes);
          const found = await readHead().catch((error: unknown) => error);
          if (!(found instanceof RowError)) expect(found).toEqual(head);
        }
      }),
      { numRuns: 40 },
    );
    writeFileSync(path, 'not a database');
    await expect(readBack()).rejects.toThrow(RowError);
  });

  it('ignores the last transaction when it is truncated anywhere', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await append(disk, 8);
    const before = statSync(join(folder, 'configuration-wal')).size;
    await append(disk, 9);
    const killed = `${folder}-killed`;
    cpSync(folder, killed, { recursive: true });
    const wal = join(killed, 'configuration-wal');
    for (let bytes = statSync(wal).size - 1; bytes >= before; bytes -= 1_000) {
      truncateSync(wal, bytes);
      expect(await readBack(killed)).toEqual(expected(7, 8));
    }
    rmSync(killed, { recursive: true });
  });

  it('removes what a process that was killed had recorded of a snapshot', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    const recording = disk.record(from(snapshotAt(9)));
    await Array.fromAsync(recording.parts);
    const killed = `${folder}-killed`;
    cpSync(folder, killed, { recursive: true });
    expect(readdirSync(killed)).toContain('configuration.new');
    expect((await openDisk(killed)).parts).toEqual(expected(7, 7));
    expect(readdirSync(killed).sort()).toEqual(['configuration', 'configuration-wal']);
    rmSync(killed, { recursive: true });
  });

  it('leaves a folder alone that another process uses', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    const other = new ConfigurationStore({ folder, log });
    disks.push(other);
    await expect(other.read()).rejects.toThrow('database is locked');
    expect(await record(other, 9)).toEqual({ parts: snapshotAt(9), isKept: false });
    await append(disk, 8);
    expect(await readBack()).toEqual(expected(7, 8));
  });

  it('renames a damaged file, so that it can be examined', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    await disk.setAside('for this test');
    expect(await readBack()).toBeNull();
    expect(existsSync(join(folder, 'configuration.damaged'))).toBe(true);
  });

  it('passes the parts on when the disk fails, logs the error, and asks for another snapshot', async () => {
    const { disk } = await openDisk();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file in the place of the folder');
    expect(await record(disk, 7)).toEqual({ parts: snapshotAt(7), isKept: false });
    await append(disk, 8);
    expect(errors).toEqual(['the configuration cannot be kept on disk']);
    expect(disk.isRecordingDue).toBe(true);
    rmSync(folder);
    await record(disk, 8);
    expect(await readBack()).toEqual(expected(8, 8));
  });

  it('asks for another snapshot when the new one cannot take its place', async () => {
    const { disk } = await openDisk();
    const path = join(folder, 'configuration');
    await record(disk, 7);
    renameSync(path, join(folder, 'away'));
    mkdirSync(path);
    expect(await record(disk, 8)).toMatchObject({ isKept: false });
    expect(disk.isRecordingDue).toBe(true);
    rmSync(path, { recursive: true });
    await record(disk, 8);
    await append(disk, 9);
    expect(await readBack()).toEqual(expected(8, 9));
  });

  it('notices that its folder was removed, and creates it again', async () => {
    const { disk } = await openDisk();
    await record(disk, 7);
    rmSync(folder, { recursive: true });
    await append(disk, 8);
    expect(disk.isRecordingDue).toBe(true);
    await record(disk, 8);
    await append(disk, 9);
    expect(disk.isRecordingDue).toBe(false);
    expect(await readBack()).toEqual(expected(8, 9));
  });

  it(
    'wants another snapshot when the disk has no room for a change, and writes nothing behind it',
    { skip: !prlimit, meta: { needs: 'prlimit' } },
    async () => {
      const { disk } = await openDisk();
      await record(disk, 7);
      await append(disk, 8);
      const { size } = statSync(join(folder, 'configuration-wal'));
      await withFileLimit(size + 20, () => append(disk, 9));
      await append(disk, 10);
      expect(errors).toEqual(['the configuration cannot be kept on disk']);
      expect(disk.isRecordingDue).toBe(true);
      expect(await readBack()).toEqual(expected(7, 8));
    },
  );
});
