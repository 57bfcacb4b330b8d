import { decodeChange } from '@weir/config-model';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileThread } from '../files/file-thread.js';
import { PersistedConfiguration } from '../follower/persisted-configuration.js';
import { HeldDisk } from '../testing/held-disk.js';
import { MemoryLog, MemoryTarget } from '../testing/memory-log.js';
import { SnapshotDisk } from './snapshot-disk.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const WAIT = { timeout: 20_000 };

describe('a disk that hangs', () => {
  let folder: string;
  let log: MemoryLog;
  let held: HeldDisk;
  const disks: SnapshotDisk[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-held-'));
    held = new HeldDisk(join(folder, 'held'));
    log = new MemoryLog();
    log.commit(1, 1);
  });
  const stop = async () => {
    await Promise.all(disks.splice(0).map((disk) => disk.close()));
  };
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  const start = async () => {
    const target = new MemoryTarget();
    const disk = new SnapshotDisk({
      folder: join(folder, 'data'),
      log: silent,
      files: new FileThread({ patienceMs: 2_000, program: held.program }),
      journalThread: new FileThread({ patienceMs: Infinity, program: held.program }),
    });
    disks.push(disk);
    const configuration = new PersistedConfiguration(target, disk, silent, 0);
    const head = await configuration.restore();
    const commit = (profileId: number) =>
      configuration.apply(decodeChange(log.commit(profileId, 2)));
    return { target, disk, configuration, commit, head };
  };
  const journal = () => readFileSync(join(folder, 'data', 'journal'), 'utf8');
  const expectAllAtNextStart = async () => {
    // A disk is current as soon as all is about to be on it.
    await stop();
    const { head, target } = await start();
    expect(head).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
  };

  it('gets a change before it is acknowledged', async () => {
    const { configuration, commit } = await start();
    await configuration.load(log.snapshot());
    await commit(2);
    await configuration.stored();
    expect(journal().split('\n')).toHaveLength(2);
  });

  it('delays acknowledgements for a limited time, and has every change once it answers', async () => {
    const { disk, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    held.hold();
    for (let id = 2; id < 20; id++) {
      await commit(id);
      await configuration.stored();
      expect(disk.isCurrent).toBe(false);
    }
    expect(journal()).toBe('');
    held.release();
    await expect.poll(() => disk.isCurrent, WAIT).toBe(true);
    await expectAllAtNextStart();
  });

  it('appends what came while it was slow with one call, in its order', async () => {
    const { disk, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    const calls = vi.spyOn(disk['journal']['thread'], 'call');
    held.hold();
    for (let id = 2; id < 50; id++) await commit(id);
    const stored = configuration.stored();
    held.release();
    await stored;
    expect(journal().trimEnd().split('\n')).toHaveLength(48);
    expect(calls.mock.calls.map(([name]) => name)).toEqual(['append', 'append']);
    await expectAllAtNextStart();
  });

  it('does not delay a snapshot for long, and gets one when it answers', async () => {
    const { disk, target, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    held.hold();
    log.replace(new Map([[7, 2]]));
    expect(await configuration.load(log.snapshot())).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
    await commit(8);
    await configuration.stored();
    configuration.compactIfDue(() => log.snapshot());
    expect(disk.isCurrent).toBe(false);
    held.release();
    await expect
      .poll(() => {
        configuration.compactIfDue(() => log.snapshot());
        return disk.isCurrent;
      }, WAIT)
      .toBe(true);
    await expectAllAtNextStart();
  });

  it('is given up when too many changes wait for it, and gets a new snapshot when it answers', async () => {
    const { disk, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    held.hold();
    await commit(2);
    await configuration.stored();
    const line = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 9; i++) disk['journal'].append(line);
    await commit(3);
    await expect.poll(() => disk['journal']['backlogBytes'], WAIT).toBe(0);
    expect([disk.isCurrent, disk.failures]).toEqual([false, 1]);
    held.release();
    await expect
      .poll(() => {
        configuration.compactIfDue(() => log.snapshot());
        return disk.isCurrent;
      }, WAIT)
      .toBe(true);
    await expectAllAtNextStart();
  });

  it('does not keep a process from starting', async () => {
    const first = await start();
    await first.configuration.load(log.snapshot());
    held.hold();
    expect((await start()).head).toBeNull();
    held.release();
  });

  it('does not keep a process from stopping', async () => {
    const { configuration, commit } = await start();
    await configuration.load(log.snapshot());
    held.hold();
    await commit(2);
    await configuration.close();
    held.release();
  });
});

describe('the thread of the journal', () => {
  it('is replaced when it has died, and the journal by a new snapshot', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-died-'));
    const log = new MemoryLog();
    const disk = new SnapshotDisk({ folder, log: silent });
    const configuration = new PersistedConfiguration(new MemoryTarget(), disk, silent, 0);
    log.commit(1, 1);
    await configuration.load(log.snapshot());
    await disk['journal']['thread']['thread']?.terminate();
    await configuration.apply(decodeChange(log.commit(2, 2)));
    await configuration.stored();
    expect([disk.isCurrent, disk.failures]).toEqual([false, 1]);
    configuration.compactIfDue(() => log.snapshot());
    await expect.poll(() => disk.isCurrent, WAIT).toBe(true);
    await configuration.close();
    const again = new SnapshotDisk({ folder, log: silent });
    const restored = new PersistedConfiguration(new MemoryTarget(), again, silent);
    expect(await restored.restore()).toEqual(log.currentHead());
    await restored.close();
    rmSync(folder, { recursive: true });
  });
});
