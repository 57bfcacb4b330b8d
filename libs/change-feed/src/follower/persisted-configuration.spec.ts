import { decodeChange } from '@weir/config-model';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PersistedConfiguration } from './persisted-configuration.js';
import { ConfigurationStore } from '../disk/configuration-store.js';
import { MemoryLog, MemoryTarget } from '../testing/memory-log.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('PersistedConfiguration', () => {
  let folder: string;
  let running: { kill(): Promise<void> } | null = null;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-configuration-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** A process that starts from the disk. The one before is killed. */
  const start = async (retryMs?: number) => {
    const target = new MemoryTarget();
    await running?.kill();
    const disk = new ConfigurationStore({ folder, log: silent });
    const configuration = new PersistedConfiguration(target, disk, silent, retryMs);
    running = { kill: () => disk['database'].close() };
    return { target, configuration, head: await configuration.restore() };
  };
  /** A file in its place: nothing can be written there. */
  const takeFolder = () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
  };
  const applyNext = async (configuration: PersistedConfiguration, log: MemoryLog) => {
    await configuration.apply(decodeChange(log.commit(log.revision + 1, 2)));
    await configuration.stored();
    configuration.recordIfDue(() => log.snapshot());
    await configuration['recording'];
  };

  it('restores every change that was applied, however often it starts from the disk', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const first = await start();
    expect(first.head).toBeNull();
    await first.configuration.load(log.snapshot());
    for (let profileId = 2; profileId < 6; profileId++) {
      const { configuration, head } = await start();
      expect(head?.revision).toBe(log.revision);
      await configuration.apply(decodeChange(log.commit(profileId, 2)));
      await configuration.stored();
    }
    const { target, head } = await start();
    expect(head).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
  });

  it('puts nothing in force before the last change that is on the disk', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start();
    await configuration.load(log.snapshot());
    for (let profileId = 2; profileId < 6; profileId++)
      await configuration.apply(decodeChange(log.commit(profileId, 2)));
    await configuration.stored();
    const { target } = await start();
    expect(target.digestsInForce).toEqual([log.currentHead().digest]);
  });

  it('puts nothing in force of rows that do not have the digest of their head', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start();
    await configuration.load(log.snapshot());
    const change = decodeChange(log.commit(2, 2));
    await configuration.apply({ ...change, digest: '0123456789abcdef' });
    await configuration.stored();
    const { target, head } = await start();
    expect(head).toBeNull();
    expect(target.digestsInForce).toEqual([]);
    expect(readdirSync(folder)).toContain('configuration.damaged');
  });

  it('has the changes of an outage of the disk on the disk once it works again', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start(0);
    takeFolder();
    await configuration.load(log.snapshot());
    await applyNext(configuration, log);
    rmSync(folder);
    await applyNext(configuration, log);
    await applyNext(configuration, log);
    expect((await start()).head).toEqual(log.currentHead());
  });

  it('does not fetch one snapshot after another while the disk fails', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start();
    takeFolder();
    await configuration.load(log.snapshot());
    const asked = vi.spyOn(log, 'snapshot');
    for (let i = 0; i < 5; i++) await applyNext(configuration, log);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('does not continue a configuration that was replaced while the disk failed', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const { configuration } = await start();
    await configuration.load(log.snapshot());
    log.replace(new Map([[7, 2]]));
    const away = `${folder}-away`;
    renameSync(folder, away);
    mkdirSync(folder);
    takeFolder();
    await configuration.load(log.snapshot());
    rmSync(folder);
    renameSync(away, folder);
    await applyNext(configuration, log);
    expect((await start()).head).toEqual(log.currentHead());
  });
});
