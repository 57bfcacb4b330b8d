import { decodeChange } from '@weir/config-model';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PersistedConfiguration } from '../follower/persisted-configuration.js';
import { ConfigurationStore } from './configuration-store.js';
import { MemoryLog, MemoryTarget } from '../testing/memory-log.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const DISK_BYTES = 1024 * 1024;
const RETRY_MS = 20;

type Started = { readonly configuration: PersistedConfiguration };

const mount = (...args: string[]): boolean => spawnSync('mount', args).status === 0;
const unmount = (folder: string): void => void spawnSync('umount', ['--lazy', folder]);
const canMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-mount-'));
  const can = mount('-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder);
  if (can) unmount(folder);
  rmSync(folder, { recursive: true });
  return can;
})();
const NEEDS_MOUNT = { skip: !canMount, meta: { needs: 'the right to mount a tmpfs' } };

describe('a small disk', NEEDS_MOUNT, () => {
  let folder: string;
  let log: MemoryLog;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-small-'));
    mount('-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder);
    log = new MemoryLog();
    log.commit(1, 1);
  });
  afterEach(() => {
    unmount(folder);
    rmSync(folder, { recursive: true });
  });

  const start = async () => {
    const target = new MemoryTarget();
    const disk = new ConfigurationStore({ folder, log: silent });
    const configuration = new PersistedConfiguration(target, disk, silent, RETRY_MS);
    return { target, configuration, head: await configuration.restore() };
  };
  /** As the follower does it after each step. */
  const keepUp = async (configuration: PersistedConfiguration) => {
    await new Promise((resolve) => setTimeout(resolve, 2 * RETRY_MS));
    configuration.recordIfDue(() => log.snapshot());
  };
  const expectAllAtNextStart = async (configuration: PersistedConfiguration) => {
    await configuration.close();
    const { head, target } = await start();
    expect(head).toEqual(log.currentHead());
    expect(target.verdicts()).toEqual(log.verdicts());
  };

  it('that was full for a while has the whole configuration again after the next changes', async () => {
    const { configuration } = await start();
    await configuration.load(log.snapshot());
    const ballast = join(folder, 'ballast');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(ballast, Buffer.alloc((bavail - 1) * bsize));
    // Fill the disk until there is no room for a change.
    for (let id = 0; id < 400; id++) await configuration.apply(decodeChange(log.commit(id, 2)));
    rmSync(ballast);
    await configuration.apply(decodeChange(log.commit(500, 2)));
    await keepUp(configuration);
    await configuration.apply(decodeChange(log.commit(501, 1)));
    await expectAllAtNextStart(configuration);
  });

  it('has the old configuration or the new one, however much room there is for the new one', async () => {
    mount('-o', `remount,size=${8 * DISK_BYTES}`, folder);
    for (let id = 2; id < 2_000; id++) log.commit(id, 1);
    const ballast = join(folder, 'ballast');
    /** @returns whether the new one took the place of the old one */
    const replaceWith = async (freeBlocks: number): Promise<boolean> => {
      const { configuration } = await start();
      await configuration.load(log.snapshot());
      const before = log.currentHead();
      log.commit(freeBlocks, 2);
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc((bavail - freeBlocks) * bsize));
      await configuration.load(log.snapshot());
      await configuration.close();
      const { head, configuration: next } = await start();
      await next.close();
      rmSync(ballast);
      expect([before, log.currentHead()], `${freeBlocks} blocks`).toContainEqual(head);
      return head?.revision === log.currentHead().revision;
    };
    let enough = 1;
    while (!(await replaceWith(enough))) enough += 50;
    expect(enough).toBeGreaterThan(1);
    for (let blocks = enough - 50; blocks < enough; blocks += 2) await replaceWith(blocks);
  });

  /** Leaves what a process leaves that is killed. */
  const kill = async ({ configuration }: Started) => {
    const copy = `${folder}-copy`;
    cpSync(folder, copy, { recursive: true });
    await configuration.close();
    cpSync(copy, folder, { recursive: true });
    rmSync(copy, { recursive: true });
  };

  it.each([
    ['stopped', ({ configuration }: Started) => configuration.close()],
    ['killed', kill],
  ])(
    'that is read-only after the process was %s can be started from, and has everything once it is writable again',
    async (_how, end) => {
      const first = await start();
      await first.configuration.load(log.snapshot());
      await first.configuration.apply(decodeChange(log.commit(2, 2)));
      await first.configuration.stored();
      await end(first);
      mount('-o', 'remount,ro', folder);
      // As in a container with a read-only root file system.
      vi.stubEnv('TMPDIR', '/nowhere');
      const { configuration, head } = await start();
      vi.unstubAllEnvs();
      expect(head).toEqual(log.currentHead());
      await configuration.apply(decodeChange(log.commit(3, 2)));
      expect(await configuration.load(log.snapshot())).toEqual(log.currentHead());
      mount('-o', 'remount,rw', folder);
      await configuration.apply(decodeChange(log.commit(4, 2)));
      await keepUp(configuration);
      await expectAllAtNextStart(configuration);
    },
  );

  it('on which no file can be made can be started from', async () => {
    const { configuration } = await start();
    await configuration.load(log.snapshot());
    await configuration.close();
    // The folder, and the database without its log.
    expect(mount('-o', 'remount,nr_inodes=2', folder)).toBe(true);
    const started = await start();
    expect(started.head).toEqual(log.currentHead());
    expect(started.target.verdicts()).toEqual(log.verdicts());
    await started.configuration.close();
  });
});
