import { decodeChange } from '@weir/config-model';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptConfiguration } from './kept-configuration.js';
import { SnapshotDisk } from './snapshot-disk.js';
import { MemoryLog, MemoryTarget } from './testing/memory-log.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('KeptConfiguration', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-kept-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** A process that starts from the disk; it is never closed, as one that is killed. */
  const start = async () => {
    const target = new MemoryTarget();
    const kept = new KeptConfiguration(target, new SnapshotDisk(folder, silent), silent);
    return { target, kept, head: await kept.restore() };
  };

  it('has every change that was applied, however often it was started from the disk', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const first = await start();
    expect(first.head).toBeNull();
    await first.kept.load(log.snapshot());
    for (let profileId = 2; profileId < 6; profileId++) {
      const { kept, head } = await start();
      expect(head?.revision).toBe(log.revision);
      await kept.apply(decodeChange(log.commit(profileId, 2)));
    }
    const { target, head } = await start();
    expect(head).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
  });
});
