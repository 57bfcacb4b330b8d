import { type Change, decodeChange, ENTITY_KINDS, KEY_LENGTHS, type Row } from '@weir/config-model';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
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
import { crc32 } from 'node:zlib';
import { PersistedConfiguration } from '../follower/persisted-configuration.js';
import { FileThread } from '../files/file-thread.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import { MemoryLog, MemoryTarget } from '../testing/memory-log.js';
import { mergeSnapshot } from './merge-program.js';
import { SnapshotDisk } from './snapshot-disk.js';
import { readSnapshotFile, SnapshotFileWriter } from './snapshot-file.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const kinds = ENTITY_KINDS.map((name) => ({ name, keyLength: KEY_LENGTHS[name] }));

let folder: string;
let files: FileThread;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-compaction-'));
  files = new FileThread({ patienceMs: 5_000 });
});
afterEach(async () => {
  await files.close();
  rmSync(folder, { recursive: true });
});

describe('a merged snapshot', () => {
  const path = (name: string) => join(folder, name);
  /** Few keys, so that changes meet the rows of the snapshot and each other. */
  const operation = fc
    .tuple(fc.nat(kinds.length - 1), fc.boolean(), fc.nat(3), fc.nat(1_000))
    .map(([kind, isPut, key, value]) => {
      const { name, keyLength } = kinds[kind];
      const keyRow = Array<number>(keyLength).fill(key);
      return isPut
        ? (['put', name, [...keyRow, value]] as const)
        : (['delete', name, keyRow] as const);
    });
  const changes = fc.array(fc.array(operation, { maxLength: 4 }), { maxLength: 12 });

  type Rows = Map<string, { kind: string; row: Row }>;
  const applyTo = (rows: Rows, [type, kind, row]: readonly [string, string, Row]) => {
    const { keyLength } = kinds.find(({ name }) => name === kind)!;
    const id = `${kind} ${row.slice(0, keyLength).join()}`;
    rows.delete(id);
    if (type === 'put') rows.set(id, { kind, row });
  };
  const sorted = (rows: Rows) => Array.from(rows.values(), (one) => JSON.stringify(one)).sort();
  const digestAt = (revision: number) => revision.toString(16).padStart(16, '0');
  const writeSnapshotOf = async (rows: Rows, revision: number) => {
    const writer = await SnapshotFileWriter.create(files, path('snapshot'));
    await writer.write({ type: 'head', lineage: LINEAGE, revision, digest: digestAt(revision) });
    for (const { name } of kinds) {
      const ofKind = [...rows.values()].filter(({ kind }) => kind === name).map(({ row }) => row);
      for (let i = 0; i < ofKind.length; i += 2) {
        await writer.write({ type: 'rows', kind: name, rows: ofKind.slice(i, i + 2) });
      }
    }
    await writer.finish();
  };
  const journalLine = (revision: number, operations: readonly unknown[]) => {
    const json = JSON.stringify({ revision, digest: digestAt(revision), operations });
    return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
  };

  it('has the rows that the changes lead to, kinds in their order, and nothing of what comes behind', async () => {
    await fc.assert(
      fc.asyncProperty(changes, changes, changes, async (before, merged, later) => {
        const rows: Rows = new Map();
        for (const operations of before) operations.forEach((one) => applyTo(rows, one));
        const start = before.length;
        await writeSnapshotOf(rows, start);
        // The first changes of the journal may be part of the snapshot.
        const lines = [
          ...before.slice(-2).map((one, i) => journalLine(start - Math.min(2, start) + 1 + i, one)),
        ];
        merged.forEach((one, i) => lines.push(journalLine(start + 1 + i, one)));
        const journalBytes = Buffer.byteLength(lines.join(''));
        later.forEach((one, i) => lines.push(journalLine(start + merged.length + 1 + i, one)));
        writeFileSync(path('journal'), lines.join(''));
        const order = {
          snapshot: path('snapshot'),
          journal: path('journal'),
          merged: path('merged'),
        };
        const revision = start + merged.length;
        expect(mergeSnapshot({ ...order, journalBytes, kinds })).toBe(revision);

        for (const operations of merged) operations.forEach((one) => applyTo(rows, one));
        const [head, ...parts] = (await Array.fromAsync(
          readSnapshotFile(files, path('merged')),
        )) as [SnapshotPart, ...Extract<SnapshotPart, { type: 'rows' }>[]];
        expect(head).toEqual({
          type: 'head',
          lineage: LINEAGE,
          revision,
          digest: digestAt(revision),
        });
        const read: Rows = new Map();
        for (const { kind, rows: some } of parts)
          for (const row of some) applyTo(read, ['put', kind, row]);
        expect(sorted(read)).toEqual(sorted(rows));
        expect(parts.flatMap((part) => [...part.rows])).toHaveLength(rows.size);
        const places = parts.map(({ kind }) => ENTITY_KINDS.indexOf(kind));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });

  it('is not made from a damaged snapshot or journal', async () => {
    await writeSnapshotOf(new Map([['blockPage 1', { kind: 'blockPage', row: [1, 0] }]]), 1);
    writeFileSync(path('journal'), journalLine(2, []));
    const snapshot = readFileSync(path('snapshot'));
    const journal = readFileSync(path('journal'));
    const order = {
      snapshot: path('snapshot'),
      journal: path('journal'),
      merged: path('merged'),
      kinds,
    };
    const merge = () => mergeSnapshot({ ...order, journalBytes: journal.length });
    fc.assert(
      fc.property(fc.nat(snapshot.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(snapshot);
        damaged[at] ^= flip;
        writeFileSync(path('snapshot'), damaged);
        expect(merge).toThrow();
        writeFileSync(path('snapshot'), snapshot.subarray(0, at));
        expect(merge).toThrow();
      }),
      { numRuns: 50 },
    );
    writeFileSync(path('snapshot'), snapshot);
    fc.assert(
      fc.property(fc.nat(journal.length - 2), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(journal);
        damaged[at] ^= flip;
        writeFileSync(path('journal'), damaged);
        expect(merge).toThrow();
      }),
      { numRuns: 50 },
    );
    expect(readdirSync(folder).sort()).toEqual(['journal', 'snapshot']);
  });
});

describe('compaction', () => {
  const open = (at = folder, longJournalBytes = 1) =>
    new SnapshotDisk({ folder: at, log: silent, longJournalBytes, random: () => 1 });
  const noDownload = () => {
    throw new Error('nothing is downloaded');
  };
  const disks: SnapshotDisk[] = [];
  afterEach(async () => {
    await Promise.all(disks.splice(0).map((disk) => disk.close()));
  });
  const start = async (disk: SnapshotDisk) => {
    disks.push(disk);
    const target = new MemoryTarget();
    const configuration = new PersistedConfiguration(target, disk, silent, 0);
    return { target, configuration, head: await configuration.restore() };
  };
  const commit = (log: MemoryLog, profileId: number, verdict: 1 | 2): Change =>
    decodeChange(log.commit(profileId, verdict));

  it('downloads nothing, and leaves what a start needs', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start(open());
    await configuration.load(log.snapshot());
    for (let i = 1; i < 24; i++) {
      await configuration.apply(commit(log, i % 7, 2));
      await configuration.stored();
      configuration.compactIfDue(noDownload);
      // Some changes come while the files are merged.
      if (i % 3 === 0) await configuration['compacting'];
    }
    await configuration['compacting'];
    expect(readFileSync(join(folder, 'journal'), 'utf8').split('\n').length).toBeLessThan(23);
    const { target, head } = await start(open());
    expect(head).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(readdirSync(folder).sort()).toEqual(['journal', 'snapshot']);
  });

  it('leaves what a start needs when the process is killed at any point', async () => {
    const random = fc.record({
      before: fc.nat(8),
      meanwhile: fc.nat(4),
      written: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(random, async ({ before, meanwhile, written }) => {
        const own = mkdtempSync(join(folder, 'run-'));
        const log = new MemoryLog();
        log.commit(1, 1);
        const disk = open(own);
        const { configuration } = await start(disk);
        await configuration.load(log.snapshot());
        for (let i = 0; i < before; i++) await configuration.apply(commit(log, i, 2));
        const compacting = disk.compact();
        for (let i = 0; i < meanwhile; i++) await configuration.apply(commit(log, i, 1));
        await configuration.stored();
        // Killed before the first rename.
        const early = `${own}-early`;
        cpSync(own, early, { recursive: true });
        expect(await compacting).toBe(true);
        // Killed between the two renames.
        const between = `${own}-between`;
        cpSync(early, between, { recursive: true });
        cpSync(join(own, 'snapshot'), join(between, 'snapshot'));
        // Killed while the new snapshot was written.
        const partial = join(early, 'snapshot.new-9');
        cpSync(join(own, 'snapshot'), partial);
        truncateSync(partial, Math.floor(readFileSync(partial).length * written));
        for (const at of [early, between, own]) {
          const { target, head } = await start(open(at));
          expect(head).toEqual(log.currentHead());
          expect(target.verdicts()).toEqual(log.verdicts());
          expect(readdirSync(at).sort()).toEqual(['journal', 'snapshot']);
        }
      }),
      { numRuns: 5 },
    );
  });

  it('is given up for a snapshot that is loaded meanwhile', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const disk = open();
    const { configuration } = await start(disk);
    await configuration.load(log.snapshot());
    await configuration.apply(commit(log, 2, 2));
    const compacting = disk.compact();
    log.replace(new Map([[7, 2]]));
    await configuration.load(log.snapshot());
    expect(await compacting).toBe(false);
    expect((await start(open())).head).toEqual(log.currentHead());
  });

  it('downloads a snapshot when the one on disk has been damaged', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const disk = open();
    const { configuration } = await start(disk);
    await configuration.load(log.snapshot());
    await configuration.apply(commit(log, 2, 2));
    await configuration.stored();
    const snapshot = join(folder, 'snapshot');
    writeFileSync(snapshot, readFileSync(snapshot).subarray(0, -1));
    configuration.compactIfDue(noDownload);
    await configuration['compacting'];
    expect(disk.isCurrent).toBe(false);
    configuration.compactIfDue(() => log.snapshot());
    await configuration['compacting'];
    expect(disk.isCurrent).toBe(true);
    expect((await start(open())).head).toEqual(log.currentHead());
  });

  it('does not keep a process from stopping', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start(open());
    await configuration.load(log.snapshot());
    await configuration.apply(commit(log, 2, 2));
    // A pipe that nobody writes to: the thread waits for it for ever.
    renameSync(join(folder, 'snapshot'), join(folder, 'away'));
    execFileSync('mkfifo', [join(folder, 'snapshot')]);
    configuration.compactIfDue(noDownload);
    await configuration.close();
    // Lets the thread of this test end.
    writeFileSync(join(folder, 'snapshot'), '', { flag: 'r+' });
  });
});
