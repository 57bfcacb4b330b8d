import { decodeChange } from '@weir/config-model';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileThread } from '../files/file-thread.js';
import { PersistedConfiguration } from '../follower/persisted-configuration.js';
import { HeldDisk } from '../testing/held-disk.js';
import { MemoryLog, MemoryTarget } from '../testing/memory-log.js';
import { ConfigurationStore } from './configuration-store.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const WAIT = { timeout: 60_000 };

describe('a disk that hangs', () => {
  let folder: string;
  let log: MemoryLog;
  let held: HeldDisk;
  const disks: ConfigurationStore[] = [];

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
    const disk = new ConfigurationStore({
      folder: join(folder, 'data'),
      log: silent,
      files: new FileThread({ patienceMs: 5_000, program: held.program }),
      database: new FileThread({ patienceMs: Infinity, program: held.databaseProgram }),
    });
    disks.push(disk);
    const configuration = new PersistedConfiguration(target, disk, silent, 0);
    const head = await configuration.restore();
    const commit = (profileId: number) =>
      configuration.apply(decodeChange(log.commit(profileId, 2)));
    return { target, disk, configuration, commit, head };
  };
  /** The revision that a start would find if the process were killed now. */
  const revisionOnDisk = async () => {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(join(folder, 'data'), copy, { recursive: true });
    const disk = new ConfigurationStore({ folder: copy, log: silent });
    const parts = await disk.read();
    const [head] = parts ? await Array.fromAsync(parts) : [];
    await disk.close();
    return head?.type === 'head' ? head.revision : null;
  };
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
    expect(await revisionOnDisk()).toBe(log.revision);
  });

  it('delays acknowledgements for a limited time, and has every change once it answers', async () => {
    const { disk, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    const before = log.revision;
    held.hold();
    for (let id = 2; id < 20; id++) {
      await commit(id);
      await configuration.stored();
      expect(disk.isCurrent).toBe(false);
    }
    expect(await revisionOnDisk()).toBe(before);
    held.release();
    await expect.poll(() => disk.isCurrent, WAIT).toBe(true);
    await expectAllAtNextStart();
  });

  it('writes what came while it was slow in one transaction, in its order', async () => {
    const { disk, configuration, commit } = await start();
    await configuration.load(log.snapshot());
    const calls = vi.spyOn(disk['database'], 'call');
    held.hold();
    for (let id = 2; id < 50; id++) await commit(id);
    const stored = configuration.stored();
    held.release();
    await stored;
    expect(await revisionOnDisk()).toBe(log.revision);
    expect(calls.mock.calls.map(([name]) => name)).toEqual(['apply', 'apply']);
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
    configuration.recordIfDue(() => log.snapshot());
    expect(disk.isCurrent).toBe(false);
    held.release();
    await expect
      .poll(() => {
        configuration.recordIfDue(() => log.snapshot());
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
    disk['waitingLength'] += 9 * 1024 * 1024;
    await commit(3);
    await expect.poll(() => disk['waiting'], WAIT).toEqual([]);
    expect([disk.isCurrent, disk.failures]).toEqual([false, 1]);
    held.release();
    await expect
      .poll(() => {
        configuration.recordIfDue(() => log.snapshot());
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

describe('the thread of the database', () => {
  it('is replaced when it has died, and what it had by a new snapshot', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-died-'));
    const log = new MemoryLog();
    const disk = new ConfigurationStore({ folder, log: silent });
    const configuration = new PersistedConfiguration(new MemoryTarget(), disk, silent, 0);
    log.commit(1, 1);
    await configuration.load(log.snapshot());
    await disk['database']['thread']?.terminate();
    await configuration.apply(decodeChange(log.commit(2, 2)));
    // `stored` does not wait for a thread that takes long to start.
    await expect.poll(() => disk.failures, WAIT).toBe(1);
    expect(disk.isCurrent).toBe(false);
    const isCurrent = () => {
      configuration.recordIfDue(() => log.snapshot());
      return disk.isCurrent;
    };
    await expect.poll(isCurrent, WAIT).toBe(true);
    await configuration.close();
    const again = new ConfigurationStore({ folder, log: silent });
    const restored = new PersistedConfiguration(new MemoryTarget(), again, silent);
    expect(await restored.restore()).toEqual(log.currentHead());
    await restored.close();
    rmSync(folder, { recursive: true });
  });
});
