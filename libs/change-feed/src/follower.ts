import { type Change, type Head, RowError } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeBuffer } from './change-buffer.js';
import { changesUnlessHeard } from './changes-unless-heard.js';
import { type FeedClient, FeedError } from './feed-client.js';
import { type FollowerCounters, type LoadCause, newCounters } from './follower-counters.js';
import { FollowerLink } from './follower-link.js';
import { Breather } from './gradually.js';
import { DigestError, type FollowerTarget, KeptConfiguration } from './kept-configuration.js';
import type { FollowerKind } from './protocol.js';
import type { FeedLogger } from './redis.js';
import { retryDelayMs } from './retry-delay.js';
import type { SnapshotDisk } from './snapshot-disk.js';

export interface FollowerOptions {
  /** Unique among all followers, and anew at each start. */
  readonly id: string;
  readonly kind: FollowerKind;
  readonly redisUrl: string;
  /** The follower's own: it is closed when the follower stops. */
  readonly feed: FeedClient;
  readonly target: FollowerTarget;
  /** Where the configuration is kept to start from; without it the follower starts from the feed alone. */
  readonly disk?: SnapshotDisk;
  readonly log: FeedLogger;
}

/** How often the feed may refuse to give the changes before a snapshot is asked for. */
const MAX_REFUSALS = 3;

/**
 * Keeps a target at the head of the change log. Messages of Redis only say that there is something to do, and often carry it; the
 * one loop below decides by revision numbers alone, so it does not matter what was lost, doubled or reordered.
 */
export class Follower {
  readonly counters: FollowerCounters = newCounters();
  private readonly link: FollowerLink;
  private readonly configuration: KeptConfiguration;
  private readonly stopping = new AbortController();
  private readonly buffered = new ChangeBuffer();
  private head: Head | null = null;
  private current: Head | null = null;
  private loadNext: LoadCause | null = 'start';
  private askNext = false;
  private refusals = 0;
  private running: Promise<void> | null = null;
  /** Something was heard since the last step began. */
  private heard = false;
  private announced = false;
  private atHeadMs = performance.now();
  private inForceSinceMs = Infinity;
  private caughtUp = false;
  private readonly atHead: Promise<void>;
  private reachedHead!: () => void;

  constructor(private readonly options: FollowerOptions) {
    this.atHead = new Promise((resolve) => {
      this.reachedHead = resolve;
    });
    this.configuration = new KeptConfiguration(options.target, options.disk, options.log);
    this.link = new FollowerLink({
      ...options,
      feedToken: options.feed.feedToken,
      onChange: (change) => {
        this.hearChange(change);
      },
      onHead: (head) => {
        this.hearHead(head);
      },
      onCutOff: () => {
        this.askNext = true;
        this.run();
      },
    });
  }

  /**
   * Puts in force what is on disk, if anything; then subscribes, loads and replays what came meanwhile. Resolves when the target is at
   * the head, or at `stop`.
   */
  async start(): Promise<void> {
    await this.restore();
    await this.link.start();
    this.run();
    await this.atHead;
  }

  /** Says goodbye, so that no write waits for this follower, and ends. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.options.feed.close();
    await this.link.stop();
    await this.running;
    await this.configuration.close();
    this.reachedHead();
  }

  /** The revision in force; null before the first snapshot. */
  get revision(): number | null {
    return this.current?.revision ?? null;
  }

  /** The newest revision heard of. */
  get headRevision(): number | null {
    return this.head?.revision ?? this.revision;
  }

  /** Time since what is in force was last known to be the newest: a heartbeat or two while all is well. */
  get lagMs(): number {
    return performance.now() - this.atHeadMs;
  }

  /** Whether what is in force was the newest at least once. */
  get isCaughtUp(): boolean {
    return this.caughtUp;
  }

  /** Time since the first configuration was put in force, from disk or from the feed; 0 before. */
  get inForceForMs(): number {
    return Math.max(0, performance.now() - this.inForceSinceMs);
  }

  /** Whether changes are heard from Redis now; without it the feed alone is followed. */
  get isRedisConnected(): boolean {
    return this.link.isConnected;
  }

  private hearChange(change: Change & Head): void {
    const { current } = this;
    const lineage = this.lineageOf(change);
    const isOurs = current !== null && lineage === current.lineage;
    if (isOurs && change.revision <= current.revision) this.counters.duplicates++;
    else this.buffered.add(lineage, change);
    if (!isOurs || change.revision >= current.revision) this.hearHead(change);
  }

  private hearHead(said: Head): void {
    const { current, head } = this;
    const { revision, digest } = said;
    const lineage = this.lineageOf(said);
    const isOurs = current === null || current.lineage === lineage;
    if (isOurs && (head?.lineage !== lineage || revision >= head.revision)) {
      this.head = { lineage, revision, digest };
      this.noteLag();
    }
    // Late, as a rule; but a database that was set back or restored is heard of in this way too, and only the feed
    // can tell.
    if (!isOurs || revision < (current?.revision ?? 0)) this.askNext = true;
    this.run();
  }

  /** The log that something was said of. A release that knows none means ours. */
  private lineageOf({ lineage }: Head): string | null {
    return lineage ?? this.current?.lineage ?? null;
  }

  private run(): void {
    this.heard = true;
    this.running ??= this.catchUp();
  }

  /** Takes steps until the target is at the head; a failed step is tried again, later and later. */
  private async catchUp(): Promise<void> {
    let failures = 0;
    const breather = new Breather();
    while (!this.stopping.signal.aborted) {
      try {
        this.heard = false;
        // Messages that come in one piece are heard one after the other before a step that had nothing to do has returned.
        if (!(await this.step()) && !this.heard) break;
        failures = 0;
        await breather.breathe();
      } catch (error) {
        if (this.stopping.signal.aborted) break;
        this.counters.feedFailures++;
        if (error instanceof DigestError) this.counters.digestMismatches++;
        const fields = { reason: String(error), failures };
        this.options.log.warn(fields, 'cannot follow the change log; trying again');
        await this.pause(failures++);
      }
    }
    // In the same turn as the last look, so that nothing heard in between is left lying.
    this.running = null;
  }

  /** One step towards the head; false: there is nothing left to do. */
  private async step(): Promise<boolean> {
    if (this.current === null || this.loadNext !== null) {
      await this.load(this.loadNext ?? 'start');
      return true;
    }
    const next = this.buffered.after(this.current);
    if (next) {
      await this.apply(this.current, next);
      return true;
    }
    if (this.askNext || (this.head !== null && this.head.revision > this.current.revision)) {
      await this.ask(this.current);
      return true;
    }
    if (!this.announced) {
      // Writers wait for this follower from here on; what was committed before they heard of it is in the log.
      await this.link.announce(this.current);
      this.announced = true;
      this.askNext = true;
      return true;
    }
    if (this.differs()) return true;
    this.compact();
    this.caughtUp = true;
    this.reachedHead();
    return false;
  }

  private async restore(): Promise<void> {
    const startedMs = performance.now();
    const head = await this.configuration.restore();
    if (head !== null) this.loaded('disk', head, startedMs);
  }

  private async load(cause: LoadCause): Promise<void> {
    const startedMs = performance.now();
    // What was heard before it was found out that both ends differ may be of another log.
    if (cause === 'digest') this.buffered.clear();
    this.loaded(cause, await this.configuration.load(this.options.feed.snapshot()), startedMs);
  }

  private loaded(cause: LoadCause, loaded: Head, startedMs: number): void {
    const head = { ...loaded, lineage: this.lineageOf(loaded) };
    this.counters.loads[cause]++;
    this.loadNext = null;
    this.inForceSinceMs = Math.min(this.inForceSinceMs, performance.now());
    // What was heard of another log says nothing about this one.
    if (this.head?.lineage !== head.lineage) this.head = null;
    this.moved(head);
    const durationMs = Math.round(performance.now() - startedMs);
    this.options.log.info({ cause, revision: head.revision, durationMs }, 'snapshot loaded');
  }

  private async apply(current: Head, change: Change): Promise<void> {
    if (change.operations.some((operation) => operation.type === 'reload')) {
      this.loadNext = 'replaced';
      return;
    }
    try {
      const point = await this.configuration.apply(change);
      this.counters.changesApplied++;
      this.moved({ ...current, ...point });
      this.compact();
    } catch (error) {
      // For a catalogue image that cannot be had now the change is tried again; everything else a snapshot mends.
      if (!(error instanceof FeedError) || error.isRefusal) this.loadNext = 'failed';
      throw error;
    }
  }

  private compact(): void {
    this.configuration.compactIfDue(() => this.options.feed.snapshot());
  }

  private async ask(current: Head): Promise<void> {
    const { revision } = current;
    const heard = this.head;
    if (heard !== null && heard.revision > revision) this.counters.gaps++;
    const page = await this.askFeed(current);
    // Heads tell whether there is more.
    if (page === 'heard') return;
    if (page === null) {
      this.loadNext = 'pruned';
      return;
    }
    const lineage = this.lineageOf(page.head);
    if (lineage !== current.lineage) {
      this.options.log.warn(
        { revision, headRevision: page.head.revision },
        'the database was restored or is another one; loading its configuration',
      );
      this.loadNext = 'lineage';
      return;
    }
    for (const change of page.changes) this.buffered.add(lineage, change);
    // What was heard while the page was under way is newer than the page.
    if (this.head === heard || page.head.revision > (this.head?.revision ?? 0))
      this.head = { ...page.head, lineage };
    this.noteLag();
    // A log that ends before this follower's revision was set back behind our back: only a snapshot tells.
    if (page.head.revision < revision) this.loadNext = 'digest';
    else if (page.head.revision > revision && !this.buffered.after(current)) {
      this.loadNext = 'failed';
      throw new RowError(`the change log has no revision ${revision + 1}`);
    }
  }

  /** @throws FeedError; then it is asked again, or a snapshot loaded where the feed can be reached but not give the changes. */
  private async askFeed(current: Head): ReturnType<typeof changesUnlessHeard> {
    this.askNext = false;
    const isHeard = (): boolean => this.buffered.after(current) !== undefined;
    try {
      const page = await changesUnlessHeard(this.options.feed, current.revision, isHeard);
      this.refusals = 0;
      return page;
    } catch (error) {
      this.askNext = true;
      if (error instanceof FeedError && error.isRefusal && ++this.refusals >= MAX_REFUSALS) {
        this.refusals = 0;
        this.loadNext = 'failed';
      }
      throw error;
    }
  }

  private moved(now: Head): void {
    this.current = now;
    this.buffered.dropUntil(now);
    this.link.acknowledge(now);
    this.noteLag();
  }

  private noteLag(): void {
    if (this.head?.revision === this.current?.revision) this.atHeadMs = performance.now();
  }

  /** Compares digests where both ends stand at the same revision; a difference is mended by a snapshot. */
  private differs(): boolean {
    if (this.head?.revision !== this.current?.revision) return false;
    if (this.head === null || this.head.digest === this.current?.digest) return false;
    this.counters.digestMismatches++;
    this.options.log.error(
      { revision: this.head.revision },
      'the configuration differs from the control plane; loading it anew',
    );
    this.loadNext = 'digest';
    return true;
  }

  private async pause(failures: number): Promise<void> {
    const delayMs = retryDelayMs(failures, Math.random());
    // Aborted only by stop(), which ends the loop.
    await sleep(delayMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
