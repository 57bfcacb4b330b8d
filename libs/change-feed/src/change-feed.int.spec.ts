import type { Head } from '@weir/config-model';
import { Redis } from 'ioredis';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { FeedClient } from './client/feed-client.js';
import { ConfigurationStore } from './disk/configuration-store.js';
import { FollowerLink } from './follower/follower-link.js';
import { Follower } from './follower/follower.js';
import { renderChangeMessages, renderHeadMessage } from './protocol/changes.js';
import { DeploymentMessages, redisNames } from './protocol/signed-messages.js';
import { FEED_VERSION, type PublishedChange } from './protocol/protocol.js';
import { ChangePublisher } from './publisher/change-publisher.js';
import type { FeedLogger } from './runtime/runtime.js';
import { createFeedServer } from './server/feed-server.js';
import { SnapshotCache } from './server/snapshot-cache.js';
import { deploymentOf, speakerOf, startPrivateRedis } from './testing/index.js';
import { MemoryLog, MemoryTarget, Outage } from './testing/memory-log.js';
import { accepts } from './testing/deployment.js';

const silent: FeedLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
// All specs share one Redis, as deployments may.
const TOKEN = `feed-token-of-${process.pid}`;
const DEPLOYMENT = deploymentOf(TOKEN);
/** Publishes as a process of this deployment. */
const say = speakerOf(DEPLOYMENT);
const WAIT_MS = 60_000;
const NEWER = FEED_VERSION + 1;

describe('the change feed over a real Redis', () => {
  let log: MemoryLog;
  let server: Server;
  let snapshots: SnapshotCache;
  let feedUrl: string;
  let publisher: ChangePublisher;
  const followers: Follower[] = [];
  let number = 0;
  /** Whether the feed API speaks a version that nobody here reads. */
  let speaksOtherVersion = false;
  /** Whether the feed API breaks each connection off. */
  let isUnreachable = false;

  const follow = async (
    options: {
      redisUrl?: string;
      name?: string;
      folder?: string;
      waits?: boolean;
      log?: FeedLogger;
    } = {},
  ) => {
    const target = new MemoryTarget();
    const follower = new Follower({
      id: `follower-${process.pid}-${++number}`,
      kind: 'resolver',
      name: options.name,
      redisUrl: options.redisUrl ?? inject('redisUrl'),
      deployment: DEPLOYMENT,
      feed: new FeedClient(feedUrl, () => TOKEN),
      target,
      ...(options.folder !== undefined && {
        disk: new ConfigurationStore({ folder: options.folder, log: silent }),
      }),
      log: options.log ?? silent,
    });
    followers.push(follower);
    const started = follower.start();
    if (options.waits ?? true) await started;
    return { follower, target };
  };
  const caughtUp = (target: MemoryTarget) =>
    vi.waitFor(() => {
      expect(target.verdicts()).toEqual(log.verdicts());
    }, WAIT_MS);
  const write = async (change: PublishedChange) => {
    await publisher.publish([change]);
    return publisher.waitApplied(change, WAIT_MS);
  };

  const headMessage = (head = log.currentHead()) =>
    renderHeadMessage({ head, acknowledgementIntervalMs: 0 });

  beforeEach(async () => {
    const redis = new Redis(inject('redisUrl'));
    await redis.flushall();
    redis.disconnect();
    log = new MemoryLog();
    const kept = { folder: tmpdir(), source: log, log: silent };
    snapshots = new SnapshotCache({ ...kept, maxAgeMs: 600_000, maxRevisions: 10_000 });
    server = createFeedServer({
      source: log,
      isAuthorised: accepts(TOKEN),
      log: silent,
      isOutage: (error) => error instanceof Outage,
      snapshots,
    });
    speaksOtherVersion = false;
    isUnreachable = false;
    const [answer] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request').on('request', (request, response) => {
      if (isUnreachable) request.destroy();
      else if (speaksOtherVersion) response.writeHead(406, { 'Weir-Feed-Version': NEWER }).end();
      else answer(request, response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    feedUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    publisher = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    await publisher.start();
  });

  afterEach(async () => {
    await Promise.all(followers.splice(0).map((follower) => follower.stop()));
    await publisher.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    snapshots.close();
  });

  it('starts from the snapshot of what was committed before', async () => {
    for (let id = 0; id < 25; id++) log.commit(id, 1);
    const { follower, target } = await follow();
    expect([follower.report.revision, target.verdicts()]).toEqual([25, log.verdicts()]);
  });

  it('has a change in force on every resolver when the wait ends', async () => {
    const [one, two] = [await follow(), await follow()];
    const applied = await write(log.commit(7, 2));
    expect(applied).toEqual({ applied: 2, total: 2 });
    expect([one.target.verdicts(), two.target.verdicts()]).toEqual([{ 7: 2 }, { 7: 2 }]);
  });

  it('applies each change once and in order, in whatever order they arrive', async () => {
    const { follower, target } = await follow();
    const changes = [log.commit(1, 1), log.commit(1, 2), log.commit(2, 1)];
    for (const change of [...changes].reverse()) await publisher.publish([change]);
    await caughtUp(target);
    for (const change of changes) await publisher.publish([change]);
    await write(log.commit(3, 1));
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters).toMatchObject({
      changesApplied: 4,
      loads: { start: 1, digest: 0 },
    });
    expect(follower.report.counters.duplicates).toBeGreaterThanOrEqual(3);
  });

  it('fetches changes when another version is published, and logs it once', async () => {
    const logged: string[] = [];
    const note = (_fields: object, message: string) => void logged.push(message);
    const { follower, target } = await follow({ log: { ...silent, warn: note } });
    const redis = new Redis(inject('redisUrl'));
    // The content is wrong in this version. The follower must not use it, not even the digest.
    const foreign = { feedVersion: NEWER, digest: 'ffffffffffffffff' };
    for (let id = 1; id <= 5; id++) {
      const change = log.commit(id, 1);
      const operations = [['put', 'domainRule', [id, 1, 2]]];
      const message = JSON.stringify({ ...change, ...foreign, operations });
      await say(redis, 'change', message);
      await say(redis, 'head', JSON.stringify({ revision: 1_000, ...foreign }));
      expect(await publisher.waitApplied(change, WAIT_MS)).toEqual({
        applied: 1,
        total: 1,
      });
    }
    redis.disconnect();
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(logged).toEqual([
      'the control plane publishes another version of the feed; changes are fetched from the feed API instead',
    ]);
    expect(follower.report.counters).toMatchObject({
      digestMismatches: 0,
      loads: { start: 1, digest: 0 },
    });
  });

  it('keeps its configuration while the feed API has another version, and continues afterwards', async () => {
    const logged: string[] = [];
    const note = (fields: object) => void logged.push(JSON.stringify(fields));
    await write(log.commit(1, 1));
    const { follower, target } = await follow({ log: { ...silent, warn: note } });
    speaksOtherVersion = true;
    log.commit(2, 1);
    log.commit(3, 1);
    await vi.waitFor(() => {
      expect(logged.at(-1)).toContain(`speaks version ${NEWER} of the feed`);
    }, WAIT_MS);
    expect(target.verdicts()).toEqual({ 1: 1 });
    speaksOtherVersion = false;
    await caughtUp(target);
    expect(follower.report.counters.loads).toMatchObject({ start: 1, failed: 0, digest: 0 });
  });

  it('writes wait for a follower of another version, which is logged once', async () => {
    const logged: object[] = [];
    const other = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: { ...silent, warn: (fields) => void logged.push(fields) },
    });
    await other.start();
    const redis = new Redis(inject('redisUrl'));
    const state = { id: 'newer', kind: 'resolver', name: null, feedVersion: NEWER };
    const sayHead = () =>
      say(redis, 'follower', JSON.stringify({ ...state, inForce: log.currentHead() }));
    await sayHead();
    await vi.waitFor(() => expect(other.followers()).toHaveLength(1), WAIT_MS);
    const first = log.commit(1, 1);
    expect(await other.waitApplied(first, 300)).toEqual({ applied: 0, total: 1 });
    const waiting = other.waitApplied(first, WAIT_MS);
    await sayHead();
    expect(await waiting).toEqual({ applied: 1, total: 1 });
    expect(logged).toEqual([
      { follower: 'newer', kind: 'resolver', feedVersion: NEWER, ownFeedVersion: FEED_VERSION },
    ]);
    redis.disconnect();
    await other.stop();
  });

  it('fetches the changes that pub/sub lost', async () => {
    const { follower, target } = await follow();
    log.commit(1, 1);
    log.commit(2, 1);
    await write(log.commit(3, 1));
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters.gaps).toBeGreaterThan(0);
  });

  it('applies changes that were committed together, each with its own revision', async () => {
    const one = await follow();
    const two = await follow();
    const changes = [log.commit(1, 1), log.commit(2, 2), log.commit(1, 2)];
    await publisher.publish(changes);
    expect(await publisher.waitApplied(changes[2], WAIT_MS)).toEqual({
      applied: 2,
      total: 2,
    });
    for (const { follower, target } of [one, two]) {
      expect(target.verdicts()).toEqual(log.verdicts());
      expect(follower.report.counters).toMatchObject({ changesApplied: 3, gaps: 0 });
    }
  });

  it('learns from the next head of a change whose message was lost', async () => {
    const { target } = await follow();
    log.commit(1, 1);
    await caughtUp(target);
  });

  it('applies a change at once that arrives together with a head', async () => {
    const { follower, target } = await follow();
    await publisher.stop();
    log.neverAnswers = true;
    const redis = new Redis(inject('redisUrl'));
    const messages = new DeploymentMessages(DEPLOYMENT, silent);
    const { names } = messages;
    for (let id = 0; id < 10; id++) {
      const head = headMessage();
      const [change] = renderChangeMessages([log.commit(id, 1)]);
      await redis
        .multi()
        .publish(names.head, messages.sign(names.head, head))
        .publish(names.change, messages.sign(names.change, change))
        .exec();
      await caughtUp(target);
    }
    redis.disconnect();
    // Nothing else led it to the change.
    expect(follower.report.counters).toMatchObject({
      changesApplied: 10,
      gaps: 0,
      feedFailures: 0,
    });
  });

  it('loads a snapshot when the log was pruned', async () => {
    const { follower, target } = await follow();
    log.commit(1, 1);
    log.commit(2, 1);
    log.prune();
    await write(log.commit(3, 2));
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters.loads.pruned).toBe(1);
  });

  it('loads a snapshot when the log lacks a revision, and continues', async () => {
    const { follower, target } = await follow();
    log.commit(1, 1);
    log.commit(2, 1);
    log.lose(1);
    await write(log.commit(3, 2));
    await caughtUp(target);
    expect(follower.report.counters.loads.failed).toBe(1);
    await write(log.commit(4, 2));
    expect(target.verdicts()).toEqual(log.verdicts());
  });

  it('follows a database that was set back without a new lineage', async () => {
    const { follower, target } = await follow();
    for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
    log.setBack(2);
    // It has revisions 3 to 5 of before, and counts only when it has the new one.
    expect(await write(log.commit(9, 2))).toEqual({ applied: 1, total: 1 });
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.revision).toBe(3);
    await write(log.commit(10, 2));
    expect(target.verdicts()).toEqual(log.verdicts());
  });

  it('counts no revision that a database has lost which was set back, also in a new replica', async () => {
    const { target } = await follow();
    for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
    log.setBack(2);
    const replica = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    await replica.start();
    const change = log.commit(9, 2);
    await replica.publish([change]);
    expect(await replica.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 1 });
    expect(target.verdicts()).toEqual(log.verdicts());
    await replica.stop();
  });

  it('counts a new follower that is ahead only once the head was read, and a known one at once', async () => {
    const unread = Promise.withResolvers<Head>();
    let isHeld = false;
    const replica = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => (isHeld ? unread.promise : log.head()),
      log: silent,
    });
    const redis = new Redis(inject('redisUrl'));
    onTestFinished(async () => {
      await replica.stop();
      redis.disconnect();
    });
    await replica.start();
    const announce = (id: string, ahead: number) => {
      const inForce = { ...log.currentHead(), revision: log.revision + ahead };
      const state = { id, kind: 'resolver', name: null, inForce, feedVersion: FEED_VERSION };
      return say(redis, 'follower', JSON.stringify(state));
    };
    const counted = (ahead: number) =>
      replica.waitApplied({ ...log.currentHead(), revision: log.revision + ahead }, 0);
    await announce('known', 0);
    await expect.poll(() => counted(0)).toEqual({ applied: 1, total: 1 });
    replica['claims']['points']['strictUntilMs'] = 0; // a minute after the start
    isHeld = true;
    await announce('known', 1);
    await announce('new', 2);
    await expect.poll(() => counted(1)).toEqual({ applied: 1, total: 2 });
    unread.resolve({ ...log.currentHead(), revision: 2 });
    await expect.poll(() => counted(1)).toEqual({ applied: 2, total: 2 });
  });

  it('acknowledges no change that was applied wrongly, and has it right when it does', async () => {
    const { follower, target } = await follow();
    target.corruptNext = true;
    expect(await write(log.commit(1, 2))).toEqual({ applied: 1, total: 1 });
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters).toMatchObject({ digestMismatches: 1, loads: { digest: 1 } });
  });

  it('counts a resolver that has vanished for a while, as one that does not have the change', async () => {
    const observer = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      missingResolverMs: 60_000,
      log: silent,
    });
    await observer.start();
    const [one, two] = [await follow(), await follow()];
    // Its lease ends without a goodbye.
    const { link } = two.follower as unknown as { link: { commands: Redis; inForce: null } };
    link.inForce = null;
    await expect.poll(() => observer.missingResolvers, { timeout: WAIT_MS }).toBe(1);
    const change = log.commit(1, 2);
    await observer.publish([change]);
    expect(await observer.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 2 });
    expect(one.target.verdicts()).toEqual(log.verdicts());
    await observer.stop();
  });

  it('counts a killed resolver that is back with its folder once, from its first acknowledgement on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-back-'));
    await follow();
    const killed = await follow({ folder, name: 'dns-1:53' });
    // Neither a goodbye nor a heartbeat.
    const { link } = killed.follower as unknown as { link: { inForce: null } };
    link.inForce = null;
    await follow({ folder, name: 'dns-1:53' });
    expect(await write(log.commit(1, 2))).toEqual({ applied: 2, total: 2 });
    await Promise.all(followers.splice(0).map((follower) => follower.stop()));
    rmSync(folder, { recursive: true });
  });

  it('counts one that is back under its name without its folder once when the lease before has ended', async () => {
    const observer = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      missingResolverMs: 600_000,
      log: silent,
    });
    await observer.start();
    const killed = await follow({ name: 'dns-1:53' });
    const { link } = killed.follower as unknown as { link: { inForce: null } };
    link.inForce = null;
    await follow({ name: 'dns-1:53' });
    const applied = async () => {
      const change = log.commit(1, 2);
      await observer.publish([change]);
      return observer.waitApplied(change, WAIT_MS);
    };
    expect((await applied()).total).toBeLessThanOrEqual(2);
    await expect.poll(applied, { timeout: WAIT_MS }).toEqual({ applied: 1, total: 1 });
    await observer.stop();
  });

  it('counts one that starts from its disk before it has caught up', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-behind-'));
    const { follower } = await follow({ folder });
    await write(log.commit(1, 1));
    await follower.stop();
    log.commit(2, 1);
    isUnreachable = true;
    const again = await follow({ folder, waits: false });
    await expect.poll(() => publisher.followers().length, { timeout: WAIT_MS }).toBe(1);
    const change = log.commit(3, 1);
    await publisher.publish([change]);
    expect(await publisher.waitApplied(change, 100)).toEqual({ applied: 0, total: 1 });
    isUnreachable = false;
    expect(await publisher.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 1 });
    await again.follower.stop();
    rmSync(folder, { recursive: true });
  });

  it('does not take a dead run for the one that is back when it reads its lease last', async () => {
    const warnings: string[] = [];
    const later = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      missingResolverMs: 600_000,
      log: { ...silent, warn: (_fields, text) => warnings.push(text) },
    });
    onTestFinished(() => later.stop());
    const killed = await follow({ name: 'dns-1:53' });
    await expect.poll(() => publisher.followers().length, { timeout: WAIT_MS }).toBe(1);
    const { link } = killed.follower as unknown as { link: { inForce: null } };
    link.inForce = null;
    await follow({ name: 'dns-1:53' });
    const { commands } = later as unknown as { commands: Redis };
    const smembers = commands.smembers.bind(commands);
    commands.smembers = async (name: string) => {
      const ids = await smembers(name);
      return ids.toSorted((a, b) => Number(b.split('-')[2]) - Number(a.split('-')[2]));
    };
    let read = 0;
    const mget = commands.mget.bind(commands);
    Object.assign(commands, {
      mget: async (keys: string[]) => {
        const leases = await mget(keys);
        // The registry has taken these leases by the time that a poll looks again.
        read = leases.length;
        return leases;
      },
    });
    await later.start();
    await expect.poll(() => read, { timeout: WAIT_MS }).toBe(2);
    await expect.poll(() => later.followers().length, { timeout: WAIT_MS }).toBe(1);
    expect(later.missingResolvers).toBe(0);
    expect(warnings.filter((text) => text.includes('claim one name'))).toEqual([]);
  });

  it('says so when two live resolvers claim one name, and counts both', async () => {
    const warnings: string[] = [];
    const observer = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: {
        ...silent,
        warn: (fields, text) => warnings.push(`${JSON.stringify(fields)} ${text}`),
      },
    });
    await observer.start();
    await follow({ name: 'dns-1:53' });
    await follow({ name: 'dns-1:53' });
    await expect.poll(() => warnings.join(), { timeout: WAIT_MS }).toContain('claim one name');
    expect(warnings.join()).toContain('"name":"dns-1:53"');
    expect(await write(log.commit(1, 2))).toEqual({ applied: 2, total: 2 });
    await observer.stop();
  });

  it.each([
    ['reads the leases late', 'smembers'],
    ['sends its commands on a connection that comes late', 'connect'],
  ] as const)(
    'counts a vanished resolver, and none that had stopped, when it %s',
    async (_, late) => {
      const [one, two, three] = [await follow(), await follow(), await follow()];
      // One that reaches Redis later than the feed has no lease yet.
      await expect.poll(() => publisher.followers().length, { timeout: WAIT_MS }).toBe(3);
      const { link } = two.follower as unknown as { link: { inForce: null } };
      link.inForce = null;
      await three.follower.stop();
      await expect.poll(() => publisher.followers().length, { timeout: WAIT_MS }).toBe(1);
      const later = new ChangePublisher({
        redisUrl: inject('redisUrl'),
        deployment: DEPLOYMENT,
        readHead: () => log.head(),
        missingResolverMs: 600_000,
        log: silent,
      });
      onTestFinished(() => later.stop());
      const { commands } = later as unknown as { commands: Redis };
      const command = (commands[late] as (...parameters: unknown[]) => Promise<unknown>).bind(
        commands,
      );
      commands[late] = ((...parameters: unknown[]) =>
        sleep(3_000).then(() => command(...parameters))) as never;
      await later.start();
      const change = log.commit(1, 2);
      await later.publish([change]);
      expect(await later.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 2 });
      expect(one.target.verdicts()).toEqual(log.verdicts());
    },
  );

  it.each([
    ['that is at the same revision again', 5],
    ['that is at a later revision', 9],
  ])(
    'loads a restored database %s, and acknowledges nothing of it before',
    async (_how, revision) => {
      const { follower, target } = await follow();
      for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
      log.restore(2);
      while (log.revision < revision - 1) log.commit(9, 1);
      const change = log.commit(9, 2);
      // The follower is at this revision or a later one already, in the other log.
      const begun = publisher.waitApplied(change, 0);
      await publisher.publish([change]);
      expect(await begun).toEqual({ applied: 0, total: 1 });
      expect(await publisher.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 1 });
      expect(target.verdicts()).toEqual({ 1: 1, 2: 1, 9: 2 });
      expect(follower.report.counters.digestMismatches).toBe(0);
      await write(log.commit(10, 2));
      expect(target.verdicts()).toEqual(log.verdicts());
    },
  );

  it('notices a restore by the next head', async () => {
    const { follower, target } = await follow();
    for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
    log.restore(2);
    await caughtUp(target);
    expect(follower.report.revision).toBe(2);
    expect(follower.report.counters.loads.lineage).toBe(1);
  });

  it('loads nothing for a late message of another log', async () => {
    const { follower, target } = await follow();
    for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
    const before = log.currentHead();
    log.restore(2);
    await caughtUp(target);
    const redis = new Redis(inject('redisUrl'));
    await say(redis, 'head', headMessage(before));
    redis.disconnect();
    await write(log.commit(9, 2));
    expect(target.verdicts()).toEqual(log.verdicts());
    expect(follower.report.counters.loads).toMatchObject({ lineage: 1, digest: 0, failed: 0 });
  });

  it('that is stopped while it starts from its disk leaves nothing running', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-follower-'));
    const { follower } = await follow({ folder });
    await write(log.commit(1, 1));
    await follower.stop();
    const { follower: again } = await follow({ folder, waits: false });
    await again.stop();
    expect(again.report.revision).toBe(1);
    expect(again['link']['heartbeatTimer']).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it('leaves no lease when it is stopped at the moment at which it would write it', async () => {
    const link = new FollowerLink({
      ...{ id: 'stopped', kind: 'resolver', name: 'dns-1:53', redisUrl: inject('redisUrl') },
      ...{ deployment: DEPLOYMENT, log: silent, onEvent: () => undefined },
    });
    await link.start();
    const announced = link.announce(log.currentHead());
    await link.stop();
    await announced;
    const redis = new Redis(inject('redisUrl'));
    onTestFinished(() => redis.disconnect());
    expect(await redis.smembers(redisNames(DEPLOYMENT.id).leases)).toEqual([]);
    expect(publisher.followers()).toEqual([]);
  });

  it('loads a restored database although its disk has the one before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-follower-'));
    const { follower } = await follow({ folder });
    for (let id = 1; id <= 5; id++) await write(log.commit(id, 1));
    await follower.stop();
    log.restore(2);
    for (let id = 6; id <= 8; id++) log.commit(id, 2);
    const again = await follow({ folder });
    expect(again.target.verdicts()).toEqual(log.verdicts());
    expect(again.follower.report.counters.loads).toMatchObject({ disk: 1, lineage: 1 });
    await again.follower.stop();
    const third = await follow({ folder });
    expect(third.target.verdicts()).toEqual(log.verdicts());
    expect(third.follower.report.counters.loads).toMatchObject({ disk: 1, lineage: 0, start: 0 });
    await third.follower.stop();
    rmSync(folder, { recursive: true });
  });

  it('loads a snapshot when the feed API refuses the changes again and again', async () => {
    const { follower, target } = await follow();
    log.refusesChanges = true;
    log.commit(1, 1);
    log.commit(2, 1);
    await caughtUp(target);
    expect(follower.report.counters.loads.failed).toBe(1);
  });

  it('never goes back to an older revision when the feed API refuses the changes and sends snapshots', async () => {
    for (let id = 1; id <= 3; id++) log.commit(id, 1);
    const { follower, target } = await follow();
    const late = log.currentHead();
    await write(log.commit(10, 2));
    await write(log.commit(11, 2));
    const begun = target.digestsInForce.length;
    log.refusesChanges = true;
    const redis = new Redis(inject('redisUrl'));
    await say(redis, 'head', headMessage(late));
    const loads = () => follower.report.counters.loads.failed;
    await expect.poll(loads, { timeout: WAIT_MS }).toBeGreaterThanOrEqual(2);
    redis.disconnect();
    const { digest } = log.currentHead();
    expect(new Set(target.digestsInForce.slice(begun))).toEqual(new Set([digest]));
    // What Redis carries is put in force meanwhile.
    expect(await write(log.commit(20, 1))).toEqual({ applied: 1, total: 1 });
  });

  it('waits, and loads no snapshot, while the feed API answers that it is unavailable', async () => {
    const { follower, target } = await follow();
    log.isUnavailable = true;
    log.commit(1, 1);
    log.commit(2, 1);
    await vi.waitFor(() => {
      // More failures than the refusals that lead to a snapshot.
      expect(follower.report.counters.feedFailures).toBeGreaterThan(3);
    }, WAIT_MS);
    log.isUnavailable = false;
    await caughtUp(target);
    expect(follower.report.counters.loads).toMatchObject({ start: 1, failed: 0 });
    await expect.poll(() => follower.report.counters.changesApplied).toBe(2);
  });

  it('loads a snapshot when a change cannot be applied', async () => {
    const { follower, target } = await follow();
    target.failNext = new Error('never');
    expect(await write(log.commit(1, 2))).toEqual({ applied: 1, total: 1 });
    await write(log.commit(2, 1));
    expect(target.verdicts()).toEqual({ 1: 2, 2: 1 });
    expect(follower.report.counters).toMatchObject({ feedFailures: 1, loads: { failed: 1 } });
  });

  it('applies changes from Redis while the feed API does not answer', async () => {
    const { follower, target } = await follow();
    await write(log.commit(1, 1));
    log.neverAnswers = true;
    const redis = new Redis(inject('redisUrl'));
    // The head of another replica often arrives before the change.
    const change = log.commit(2, 1);
    await say(redis, 'head', headMessage());
    await vi.waitFor(() => {
      expect(follower.report.counters.gaps).toBe(1);
    }, WAIT_MS);
    await publisher.publish([change]);
    expect(await publisher.waitApplied(change, WAIT_MS)).toEqual({ applied: 1, total: 1 });
    expect(target.verdicts()).toEqual(log.verdicts());
    // The request to the feed API has not even timed out.
    expect(follower.report.counters.feedFailures).toBe(0);
    redis.disconnect();
  });

  it('loads a snapshot when the whole configuration was replaced', async () => {
    log.commit(1, 1);
    const { follower, target } = await follow();
    const applied = await write(log.replace(new Map([[9, 2]])));
    expect([applied, target.verdicts()]).toEqual([{ applied: 1, total: 1 }, { 9: 2 }]);
    expect(follower.report.counters.loads.replaced).toBe(1);
  });

  it('notices within two seconds that its configuration differs, and loads a snapshot', async () => {
    const { follower, target } = await follow();
    target.corruptNext = true;
    await write(log.commit(1, 2));
    await caughtUp(target);
    expect(follower.report.counters.loads.digest).toBe(1);
  });

  it('ignores another deployment on the same Redis', async () => {
    const { follower, target } = await follow();
    const other = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: deploymentOf('another-deployment'),
      readHead: () => Promise.resolve({ ...log.currentHead(), revision: 99 }),
      log: silent,
    });
    await other.start();
    const foreign = new MemoryLog();
    const otherChange = foreign.commit(1, 2);
    await other.publish([otherChange]);
    expect(await other.waitApplied(otherChange, 50)).toEqual({ applied: 0, total: 0 });
    await other.stop();
    await write(log.commit(2, 1));
    expect(target.verdicts()).toEqual({ 2: 1 });
    expect(follower.report.headRevision).toBe(1);
  });

  it('survives invalid messages', async () => {
    const { target } = await follow();
    const redis = new Redis(inject('redisUrl'));
    for (const text of [
      '',
      '{',
      '[]',
      '{"revision":-1}',
      '{"revision":1,"digest":"0123456789abcdef"}',
      '{"lineage":"x","revision":1,"digest":"0123456789abcdef"}',
      '{"revision":1,"digest":"x","operations":[["put","x",[]]]}',
    ]) {
      for (const kind of ['change', 'head', 'follower'] as const) {
        await redis.publish(redisNames(DEPLOYMENT.id)[kind], text);
        await say(redis, kind, text);
      }
    }
    redis.disconnect();
    await write(log.commit(1, 2));
    expect(target.verdicts()).toEqual({ 1: 2 });
  });

  it('follows through the feed API alone while Redis is out of reach', async () => {
    const { follower, target } = await follow({ redisUrl: 'redis://127.0.0.1:1' });
    log.commit(1, 2);
    await vi.waitFor(() => {
      expect(target.verdicts()).toEqual({ 1: 2 });
    }, WAIT_MS);
    expect(follower.report.isRedisConnected).toBe(false);
    expect((await follow()).follower.report.isRedisConnected).toBe(true);
  });

  it('reports how long ago it was at the head', async () => {
    const { follower, target } = await follow();
    await write(log.commit(1, 1));
    // Heads alone confirm that the configuration is the newest.
    await sleep(1_500);
    await vi.waitFor(() => {
      expect(follower.report.lagMs).toBeLessThan(500);
    }, WAIT_MS);
    log.refusesChanges = true;
    await publisher.stop();
    await vi.waitFor(() => {
      expect(follower.report.lagMs).toBeGreaterThan(2_500);
    }, WAIT_MS);
    expect(target.verdicts()).toEqual({ 1: 1 });
  });

  it('starts from disk with every change that it acknowledged while nothing else can be reached', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-follower-'));
    log.commit(1, 1);
    const { follower } = await follow({ folder });
    for (let id = 2; id < 30; id++) await write(log.commit(id, 2));
    const acknowledged = log.verdicts();
    await follower.stop();
    isUnreachable = true;
    const again = await follow({ folder, redisUrl: 'redis://127.0.0.1:1', waits: false });
    await vi.waitFor(() => {
      expect(again.target.verdicts()).toEqual(acknowledged);
    }, WAIT_MS);
    expect(again.follower.report.counters.loads).toMatchObject({ disk: 1, start: 0 });

    log.commit(99, 1);
    isUnreachable = false;
    await caughtUp(again.target);
    expect(again.follower.report.counters.loads.start).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('starts from the feed API when the disk is damaged, and writes that snapshot to the disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-follower-'));
    writeFileSync(join(folder, 'configuration'), 'damaged');
    log.commit(1, 1);
    const first = await follow({ folder });
    expect(existsSync(join(folder, 'configuration.damaged'))).toBe(true);
    expect(first.follower.report.counters.loads).toMatchObject({ disk: 0, start: 1 });
    await first.follower.stop();
    const second = await follow({ folder });
    expect(second.follower.report.counters.loads).toMatchObject({ disk: 1, start: 0 });
    expect(second.target.verdicts()).toEqual(log.verdicts());
    await second.follower.stop();
    rmSync(folder, { recursive: true });
  });

  it('starts, and follows through the feed API alone, when Redis accepts connections and does not answer', async () => {
    const unresponsive = createTcpServer();
    await new Promise<void>((resolve) => {
      unresponsive.listen(0, '127.0.0.1', resolve);
    });
    const sockets = new Set<Socket>();
    unresponsive.on('connection', (socket) => sockets.add(socket));
    const redisUrl = `redis://127.0.0.1:${(unresponsive.address() as AddressInfo).port}`;
    log.commit(1, 2);
    const { target } = await follow({ redisUrl });
    expect(target.verdicts()).toEqual({ 1: 2 });
    log.commit(2, 2);
    await vi.waitFor(() => {
      expect(target.verdicts()).toEqual({ 1: 2, 2: 2 });
    }, WAIT_MS);
    const publisherWithoutRedis = new ChangePublisher({
      redisUrl,
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    await publisherWithoutRedis.start();
    expect(publisherWithoutRedis.connected).toBe(false);
    await publisherWithoutRedis.stop();
    for (const socket of sockets) socket.destroy();
    unresponsive.close();
  });

  it('ends no wait on a Redis that has just started before the followers have published their states', async () => {
    const redis = await startPrivateRedis();
    const { follower } = await follow({ redisUrl: redis.url });
    const replica = new ChangePublisher({
      redisUrl: redis.url,
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    const admin = new Redis(redis.url);
    // Like a Redis that has restarted without data, however slow this machine is. The next heartbeat comes within a
    // second.
    await admin.flushall();
    const { commands } = replica as unknown as { commands: Redis };
    const info = commands.info.bind(commands) as (...asked: unknown[]) => Promise<string>;
    commands.info = (...asked: unknown[]) =>
      asked[0] === 'server' ? Promise.resolve('uptime_in_seconds:1') : info(...asked);
    await replica.start();
    const change = log.commit(1, 1);
    await replica.publish([change]);
    const waiting = replica.waitApplied(change, WAIT_MS);
    // A process that stands still for a while hears of them later.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
    await replica.stop();
    await follower.stop();
    admin.disconnect();
    await redis.stop();
  });

  it('does not call a write in force everywhere after Redis was away until it knows who came meanwhile', async () => {
    let redis = await startPrivateRedis();
    onTestFinished(() => redis.stop());
    const replica = new ChangePublisher({
      redisUrl: redis.url,
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    await replica.start();
    onTestFinished(() => replica.stop());
    const writeHere = async () => {
      const change = log.commit(log.revision, 1);
      await replica.publish([change]);
      return { ...(await replica.waitApplied(change, 500)), revision: change.revision };
    };
    await follow({ redisUrl: redis.url });
    await expect.poll(writeHere).toMatchObject({ applied: 1, total: 1 });
    await redis.stop();
    const before = log.currentHead();
    await expect.poll(() => replica.waitApplied(before, 0)).toEqual({ applied: 0, total: 1 });
    const { follower } = await follow({ redisUrl: redis.url });
    redis = await startPrivateRedis(redis.port);
    for (let written = await writeHere(); written.applied < 2; written = await writeHere()) {
      const hasIt = (follower.report.revision ?? 0) >= written.revision;
      expect(written.applied < written.total || hasIt).toBe(true);
    }
  });

  it('does not know who is alive from leases that it had begun to read before its subscription ended', async () => {
    await follow();
    const replica = new ChangePublisher({
      redisUrl: inject('redisUrl'),
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    onTestFinished(() => replica.stop());
    const { commands, subscriber } = replica as unknown as Record<string, Redis>;
    const read = commands.smembers.bind(commands);
    const reads: PromiseWithResolvers<null>[] = [];
    commands.smembers = async (key: unknown) => {
      const ids = await read(key as string);
      const held = Promise.withResolvers<null>();
      reads.push(held);
      await held.promise;
      return ids;
    };
    await replica.start();
    await expect.poll(() => reads.length).toBeGreaterThan(0);
    const before = reads.splice(0);
    subscriber.disconnect(true);
    await expect.poll(() => reads.length).toBeGreaterThan(0);
    await expect.poll(() => replica.followers().length).toBe(1);
    const head = log.currentHead();
    for (const { resolve } of before) resolve(null);
    expect(await replica.waitApplied(head, 2_000)).toEqual({ applied: 0, total: 1 });
    for (const { resolve } of reads) resolve(null);
    expect(await replica.waitApplied(head, WAIT_MS)).toEqual({ applied: 1, total: 1 });
  });

  it('waits until the timeout when Redis is out of reach from the start', async () => {
    const publisherWithoutRedis = new ChangePublisher({
      redisUrl: 'redis://127.0.0.1:1',
      deployment: DEPLOYMENT,
      readHead: () => log.head(),
      log: silent,
    });
    await publisherWithoutRedis.start();
    const startedMs = performance.now();
    expect(await publisherWithoutRedis.waitApplied(log.currentHead(), 300)).toEqual({
      applied: 0,
      total: 0,
    });
    expect(performance.now() - startedMs).toBeGreaterThan(290);
    await publisherWithoutRedis.stop();
  });

  it('does not wait for a follower that has stopped', async () => {
    const [one] = [await follow(), await follow()];
    await one.follower.stop();
    expect(await write(log.commit(1, 1))).toEqual({ applied: 1, total: 1 });
  });

  it('ends a wait with the present counts at the timeout', async () => {
    await follow();
    expect(await publisher.waitApplied({ ...log.currentHead(), revision: 99 }, 50)).toEqual({
      applied: 0,
      total: 1,
    });
  });

  it('answers 401 without the token', async () => {
    for (const path of ['/snapshot', '/changes?after=0', `/catalogue/${'0'.repeat(64)}`]) {
      const response = await fetch(`${feedUrl}${path}`, {
        headers: { Authorization: 'Bearer other' },
      });
      expect([response.status, await response.json()]).toEqual([
        401,
        { detail: 'Not authenticated' },
      ]);
    }
  });

  it('answers 404, 405 and 422 to invalid requests', async () => {
    const get = async (path: string, method = 'GET') =>
      (await fetch(`${feedUrl}${path}`, { method, headers: { Authorization: `Bearer ${TOKEN}` } }))
        .status;
    expect(await get('/changes')).toBe(422);
    expect(await get('/changes?after=x')).toBe(422);
    expect(await get('/nothing')).toBe(404);
    expect(await get(`/catalogue/${'0'.repeat(64)}`)).toBe(404);
    expect(await get('/snapshot', 'POST')).toBe(405);
  });
});
