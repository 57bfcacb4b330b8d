import { RowError } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../client/feed-requests.js';
import { NEW_SNAPSHOT } from '../protocol/protocol.js';
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
    for (const atLeast of [5, 6, 7]) await loader.load(atLeast).catch(() => undefined);
    await loader.load(8);
    expect(asked).toEqual([5, NEW_SNAPSHOT, NEW_SNAPSHOT, 8]);
  });

  it('says once how long the feed API asks to wait', async () => {
    outcomes.push(new StatusError(503, 'snapshot', '7'));
    await expect(loader.load(0)).rejects.toThrow('answered 503');
    const pauseMs = loader.takeRetryAfterMs();
    expect([pauseMs >= 7_000 && pauseMs <= 8_000, loader.takeRetryAfterMs()]).toEqual([true, 0]);
  });
});
