import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FeedClient } from './feed-client.js';
import { createFeedServer, type FeedSource } from './feed-server.js';
import { MemoryLog } from './testing/memory-log.js';

const TOKEN = 'token-of-the-feed-server-spec';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('GET /changes', () => {
  let stop: () => Promise<void>;
  afterEach(() => stop());

  const clientOf = async (source: FeedSource): Promise<FeedClient> => {
    const server = createFeedServer({ source, token: TOKEN, log: silent });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return new FeedClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, TOKEN);
  };

  it('is no reason for a snapshot when a change is committed while a log without news is read', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    const before = log.currentHead();
    // As a database that finds no rows, and then a head that has moved on.
    const source = Object.assign(Object.create(log) as MemoryLog, {
      changesAfter: () => {
        log.commit(2, 1);
        return Promise.resolve(null);
      },
    });
    const client = await clientOf(source);
    expect(await client.changesAfter(before.revision)).toEqual({ head: before, changes: [] });
  });

  it('says when the log no longer reaches back', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    log.prune();
    const client = await clientOf(log);
    expect(await client.changesAfter(0)).toBeNull();
  });
});
