import { RowError } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../client/feed-requests.js';
import { NEW_SNAPSHOT, type SnapshotPart } from '../protocol/protocol.js';
import { MemoryLog } from '../testing/memory-log.js';
import { SnapshotLoader } from './persisted-configuration.js';

describe('SnapshotLoader', () => {
  const log = new MemoryLog();
  const asked: number[] = [];
  const outcomes: (Error | null)[] = [];
  const feed = {
    snapshot: (atLeast = -1) => {
      asked.push(atLeast);
      return log.snapshot();
    },
  };
  const load = () => {
    const problem = outcomes.shift();
    return problem ? Promise.reject(problem) : Promise.resolve(log.currentHead());
  };
  const loader = new SnapshotLoader(feed, { load });

  it('asks for another snapshot after one that could not be used, until one could', async () => {
    outcomes.push(new RowError('damaged'), new StatusError(503, 'snapshot'), null, null);
    for (const atLeast of [5, 6, 7]) await loader.load(atLeast, null).catch(() => undefined);
    await loader.load(8, null);
    expect(asked).toEqual([5, NEW_SNAPSHOT, NEW_SNAPSHOT, 8]);
  });

  it('puts no new snapshot in force that is older than its own, unless the feed API knows what it has', async () => {
    const inForce = { ...log.currentHead(), revision: 3 };
    const configuration = {
      load: async (parts: AsyncIterable<SnapshotPart>) => {
        const problem = outcomes.shift();
        if (problem) throw problem;
        for await (const _ of parts);
        return log.currentHead();
      },
    };
    asked.length = 0;
    const follower = new SnapshotLoader(feed, configuration);
    outcomes.push(new RowError('damaged'));
    await expect(follower.load(4, inForce)).rejects.toThrow('damaged');
    await expect(follower.load(4, inForce)).rejects.toThrow('older than revision 3');
    expect(await follower.load(4, inForce)).toEqual(log.currentHead());
    expect(asked).toEqual([4, NEW_SNAPSHOT, 4]);
    outcomes.push(new RowError('damaged'));
    await expect(follower.load(0, inForce)).rejects.toThrow('damaged');
    expect(await follower.load(0, { ...inForce, lineage: 'other' })).toEqual(log.currentHead());
  });

  it('says once how long the feed API asks to wait', async () => {
    outcomes.push(new StatusError(503, 'snapshot', '7'));
    await expect(loader.load(0, null)).rejects.toThrow('answered 503');
    const pauseMs = loader.takeRetryAfterMs();
    expect([pauseMs >= 7_000 && pauseMs <= 8_000, loader.takeRetryAfterMs()]).toEqual([true, 0]);
  });
});
