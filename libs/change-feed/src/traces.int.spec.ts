import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FeedClient } from './client/feed-client.js';
import type { FollowerTracer } from './follower/change-spans.js';
import { Follower } from './follower/follower.js';
import { ChangePublisher } from './publisher/change-publisher.js';
import { createFeedServer } from './server/feed-server.js';
import { accepts, deploymentOf } from './testing/deployment.js';
import { MemoryLog, MemoryTarget } from './testing/memory-log.js';
import { type PrivateRedis, startPrivateRedis } from './testing/private-redis.js';

const TOKEN = 'token-of-the-feed-of-this-test';
const NO_REDIS = 'redis://127.0.0.1:9';
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const traceOf = (n: number) => `00-${String(n).padStart(32, '0')}-b7ad6b7169203331-01`;

describe('the trace of a change', () => {
  let redis: PrivateRedis;
  let log: MemoryLog;
  let server: Server;
  let publisher: ChangePublisher;
  /** The one of which the feed API knows the traces. Nobody gets its messages. */
  let unheard: ChangePublisher;
  const cleanups: (() => unknown)[] = [];

  const publisherAt = async (redisUrl: string): Promise<ChangePublisher> => {
    const readHead = () => log.head();
    const deployment = deploymentOf(TOKEN);
    const started = new ChangePublisher({ redisUrl, deployment, readHead, log: quiet });
    cleanups.push(() => started.stop());
    await started.start();
    return started;
  };
  /** A follower, and what its spans say: `<trace> <what>`. */
  const follow = async () => {
    const said: string[] = [];
    const tracer: FollowerTracer = {
      resume: (name, { attributes }, traceparent) => {
        const trace = traceparent === traceOf(1) ? 'one' : traceparent;
        said.push(`${trace} ${name} ${attributes['weir.revision']}`);
        return {
          note: (what) => said.push(`${trace} ${what}`),
          end: () => said.push(`${trace} end`),
        };
      },
    };
    const follower = new Follower({
      id: 'follower',
      kind: 'resolver',
      redisUrl: redis.url,
      deployment: deploymentOf(TOKEN),
      feed: new FeedClient(
        `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        () => TOKEN,
      ),
      target: new MemoryTarget(),
      tracer,
      log: quiet,
    });
    cleanups.push(() => follower.stop());
    await follower.start();
    return { follower, said };
  };
  const traced = (change: ReturnType<MemoryLog['commit']>) => ({
    ...change,
    traceparent: traceOf(1),
  });

  beforeEach(async () => {
    redis = await startPrivateRedis();
    cleanups.push(() => redis.stop());
    log = new MemoryLog();
    publisher = await publisherAt(redis.url);
    unheard = await publisherAt(NO_REDIS);
    server = createFeedServer({
      source: log,
      isAuthorised: accepts(TOKEN),
      log: quiet,
      isOutage: () => false,
      traceOf: (point) => unheard.traceOf(point),
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  it('goes on in a follower until it has acknowledged the change', async () => {
    const { said } = await follow();
    const change = traced(log.commit(1, 1));
    await publisher.publish([change]);
    await publisher.waitApplied(change, 60_000);
    await expect.poll(() => said).toEqual(['one change.apply 1', 'one in force', 'one end']);
  });

  it('goes on in a follower that misses the message and asks the feed API', async () => {
    const { said } = await follow();
    await unheard.publish([traced(log.commit(1, 1))]);
    await expect.poll(() => said).toEqual(['one change.apply 1', 'one in force', 'one end']);
  });

  it('goes on while a follower loads the configuration that replaces the one before', async () => {
    const { said } = await follow();
    const change = traced(log.replace(new Map([[1, 1]])));
    await publisher.publish([change]);
    await publisher.waitApplied(change, 60_000);
    await expect.poll(() => said).toEqual(['one change.apply 1', 'one in force', 'one end']);
  });

  it('differs from the trace of the next change, and from a change without a trace', async () => {
    const { said } = await follow();
    const [first, second, third] = [log.commit(1, 1), log.commit(1, 2), log.commit(2, 1)];
    await publisher.publish([first, { ...second, traceparent: traceOf(1) }, third]);
    await publisher.waitApplied(third, 60_000);
    await expect.poll(() => said).toEqual(['one change.apply 2', 'one in force', 'one end']);
  });

  it('changes nothing when it is none, and does not get to a tracer', async () => {
    const { said, follower } = await follow();
    for (const hostile of [7, {}, ['x'], 'x'.repeat(65), null]) {
      const change = log.commit(1, 1);
      await publisher.publish([{ ...change, traceparent: hostile as never }]);
      expect(await publisher.waitApplied(change, 60_000)).toEqual({ applied: 1, total: 1 });
    }
    expect([said, follower.report.counters.digestMismatches]).toEqual([[], 0]);
  });
});
