import type { Change, Head, LogPoint } from '@weir/config-model';
import type { ChangesPage } from '../../protocol/changes.js';
import { ChangeBuffer } from './change-buffer.js';
import {
  type FailureKind,
  FollowerCounters,
  type FollowerEffect,
  type FollowerEvent,
  type FollowerPhase,
  type LoadCause,
} from './follower-state.js';

const STEPS: readonly FollowerPhase[] = ['loading', 'applying', 'fetching', 'announcing'];

/** The phases in which an event can come, if not in all. */
const EXPECTED: Partial<Record<FollowerEvent['type'], readonly FollowerPhase[]>> = {
  loaded: ['starting', 'loading', 'stopping', 'stopped'],
  applied: ['applying', 'stopping'],
  fetched: ['fetching', 'stopping'],
  logPruned: ['fetching', 'stopping'],
  overtaken: ['fetching', 'stopping'],
  announced: ['announcing', 'stopping'],
  failed: [...STEPS, 'stopping'],
  resumed: ['yielding', 'stopped'],
};

/** Refusals of the changes in a row before a snapshot is loaded. The number doubles with each load, up to the last. */
const FIRST_REFUSALS = 3;
const LAST_REFUSALS = 192;

/**
 * The decisions of a follower, without I/O, clock or randomness: an event leads to a new phase and to effects.
 * FOLLOWER.md has the tables of transitions.
 *
 * Redis may lose, repeat and reorder messages. So a message only adds to what is known. Revision numbers decide what
 * happens next.
 */
export class FollowerMachine {
  readonly counters = new FollowerCounters();
  phase: FollowerPhase = 'starting';
  inForce: Head | null = null;
  /** The newest head of the log in force. Null: none was received yet. */
  head: Head | null = null;
  /** The load that must be the next step, until it succeeds. Null: none, or one that may be left out for a change. */
  load: LoadCause | null = null;
  /** How many steps have failed since the feed API last helped, or since nothing was left to do. */
  failures = 0;
  /** What is in force was the newest at least once. */
  isCaughtUp = false;
  /** The lease is written: writes wait for this follower. */
  isAnnounced = false;
  /** The changes must be fetched, whatever `head` says: a message may have been lost, or spoke of another log. */
  private mustFetch = false;
  /** The changes up to the newer head have been awaited for long enough. */
  private hasAwaited = false;
  private refusals = 0;
  private refusalsBeforeLoad = FIRST_REFUSALS;
  /** The pause after a failed step is not over. Only changes that come from Redis are put in force meanwhile. */
  private isPausing = false;
  private readonly pending = new ChangeBuffer();
  /** The digest that the change under way must lead to. */
  private expectedDigest = '';
  /** The head that was known when the fetch under way began. */
  private headBefore: Head | null = null;
  private effects: FollowerEffect[] = [];

  /** Whether the change that follows the revision in force was received. */
  get hasNextChange(): boolean {
    return this.inForce !== null && this.pending.nextAfter(this.inForce) !== undefined;
  }

  /** @returns what to do, in order. @throws Error when the event cannot happen in this phase. */
  handle(event: FollowerEvent): readonly FollowerEffect[] {
    if (EXPECTED[event.type]?.includes(this.phase) === false)
      throw new Error(`a follower that is ${this.phase} cannot take '${event.type}'`);
    this.effects = [];
    this.dispatch(event);
    return this.effects;
  }

  private dispatch(event: FollowerEvent): void {
    switch (event.type) {
      case 'started':
        return this.wake();
      case 'changeReceived':
        return this.receiveChange(event.change);
      case 'headReceived':
        return this.receiveHead(event.head);
      case 'largeChangeReceived':
        this.mustFetch ||= !this.isInForce(event.head);
        return this.receiveHead(event.head);
      case 'messagesMissed':
        this.mustFetch = true;
        return this.wake();
      case 'loaded':
        return this.loaded(event.cause, event.head);
      case 'applied':
        return this.applied(event.point);
      case 'fetched':
        return this.fetched(event.page);
      case 'logPruned':
      case 'overtaken':
        this.feedHelped();
        // After `overtaken`, the next step applies the change that was received meanwhile.
        return this.succeed(event.type === 'logPruned' ? 'pruned' : null);
      case 'announced':
        // From now on writes wait for this follower. What was committed before they knew of it is in the log.
        this.isAnnounced = true;
        this.mustFetch = true;
        return this.succeed();
      case 'failed':
        return this.failed(event.kind, event.reason);
      case 'resumed':
        if (this.phase !== 'stopped') this.begin();
        return;
      case 'retried':
        this.isPausing = false;
        if (this.phase === 'retrying') this.begin();
        return;
      case 'awaited':
        if (this.phase !== 'awaiting') return;
        this.hasAwaited = true;
        return this.begin();
      case 'stop':
        if (this.phase !== 'stopping')
          this.enter(STEPS.includes(this.phase) ? 'stopping' : 'stopped');
    }
  }

  private receiveChange(change: Change & Head): void {
    const isInForce = this.isInForce(change);
    if (isInForce) this.counters.duplicates++;
    else this.pending.add(change.lineage, change);
    if (!isInForce || change.revision === this.inForce?.revision) this.receiveHead(change);
  }

  private receiveHead({ lineage, revision, digest }: Head): void {
    const { inForce, head } = this;
    const isSameLog = inForce === null || inForce.lineage === lineage;
    if (isSameLog && (head?.lineage !== lineage || revision >= head.revision)) {
      this.head = { lineage, revision, digest };
      this.noteIfAtHead();
    }
    // As a rule the message is late. But a database that was set back or restored is noticed in this way too, and only
    // the feed API can tell which it is.
    if (!isSameLog || revision < (inForce?.revision ?? 0)) this.mustFetch = true;
    this.wake();
  }

  private isInForce({ lineage, revision }: Head): boolean {
    return this.inForce?.lineage === lineage && revision <= this.inForce.revision;
  }

  private wake(): void {
    const { phase } = this;
    const isAwaited = phase === 'awaiting' && (this.hasNextChange || this.mustFetch);
    const isPassable = phase === 'retrying' && this.load === null && this.hasNextChange;
    if (phase === 'starting' || phase === 'idle' || isAwaited || isPassable) this.begin();
  }

  /** Begins the one step that leads on from the configuration in force. */
  private begin(): void {
    const { inForce, head } = this;
    if (inForce === null || this.load !== null) return this.beginLoad(this.load ?? 'start');
    // What is in force may be answering somebody, even if it is old (decisions §10).
    if (!this.isAnnounced) return this.enter('announcing', { type: 'announce', inForce });
    const change = this.pending.nextAfter(inForce);
    if (change) return this.apply(change);
    if (this.isPausing) return this.enter('retrying');
    const isBehind = head !== null && head.revision > inForce.revision;
    if (this.mustFetch || (isBehind && this.hasAwaited)) {
      if (this.refusals >= this.refusalsBeforeLoad) return this.beginLoad('failed');
      if (isBehind) this.counters.gaps++;
      this.mustFetch = false;
      this.hasAwaited = false;
      this.headBefore = head;
      return this.enter('fetching', { type: 'fetch', inForce });
    }
    if (isBehind) return this.enter('awaiting', { type: 'await' });
    if (head?.revision === inForce.revision && head.digest !== inForce.digest) return this.repair();
    this.isCaughtUp = true;
    this.failures = 0;
    this.enter('idle', { type: 'recordIfDue' });
  }

  private beginLoad(cause: LoadCause): void {
    if (this.isPausing) return this.enter('retrying');
    // Changes that were received before the difference was noticed may belong to another log.
    if (cause === 'digest') this.pending.clear();
    this.refusals = 0;
    const atLeast = leastRevision(cause, this.inForce, this.head);
    this.enter('loading', { type: 'load', cause, atLeast });
  }

  private apply(change: Change): void {
    if (change.operations.some((operation) => operation.type === 'reload')) {
      // Its work is the load. If the database is set back meanwhile, it must not lead to another load.
      this.pending.remove(change.revision);
      return this.succeed('replaced');
    }
    this.expectedDigest = change.digest;
    this.enter('applying', { type: 'apply', change });
  }

  private loaded(cause: LoadCause, inForce: Head): void {
    this.counters.loads[cause]++;
    // The cause `failed` may last, and lead to the next load.
    if (cause !== 'failed') this.failures = 0;
    else this.refusalsBeforeLoad = Math.min(2 * this.refusalsBeforeLoad, LAST_REFUSALS);
    // The head of another log says nothing about this one.
    if (this.head?.lineage !== inForce.lineage) this.head = null;
    this.moveTo(inForce);
    if (this.phase === 'loading' || this.phase === 'stopping') this.succeed();
  }

  private applied(point: LogPoint): void {
    const isRight = point.digest === this.expectedDigest;
    this.counters.changesApplied++;
    this.moveTo({ ...this.base, ...point }, isRight);
    this.emit({ type: 'recordIfDue' });
    if (isRight || this.phase === 'stopping') this.succeed();
    else this.repair();
  }

  private fetched({ head, changes }: ChangesPage): void {
    if (this.phase === 'stopping') return this.enter('stopped');
    this.feedHelped();
    const { lineage, revision } = this.base;
    if (head.lineage !== lineage) {
      this.log(
        'warn',
        { revision, headRevision: head.revision },
        'the database was restored or is another one; loading its configuration',
      );
      return this.succeed('lineage');
    }
    for (const change of changes) this.pending.add(lineage, change);
    // A head that was received during the request is newer than the page.
    if (this.head === this.headBefore || head.revision > (this.head?.revision ?? 0))
      this.head = head;
    this.noteIfAtHead();
    // The log ends before the revision in force: the database was set back. Only a snapshot tells what it holds.
    if (head.revision < revision) return this.succeed('digest');
    if (head.revision > revision && !this.hasNextChange)
      return this.fail('failed', `the change log has no revision ${revision + 1}`);
    this.succeed();
  }

  private feedHelped(): void {
    this.refusals = 0;
    this.refusalsBeforeLoad = FIRST_REFUSALS;
    this.failures = 0;
  }

  private failed(kind: FailureKind, reason: string): void {
    if (this.phase === 'stopping') return this.enter('stopped');
    if (kind === 'wrongDigest') this.counters.digestMismatches++;
    if (this.phase === 'loading') return this.fail(this.load, reason);
    if (this.phase === 'applying') return this.fail('failed', reason);
    if (this.phase === 'fetching') {
      this.mustFetch = true;
      if (kind === 'refused') this.refusals++;
    }
    this.fail(null, reason);
  }

  /** What is in force, during a step that needs it. */
  private get base(): Head {
    if (this.inForce === null) throw new Error('nothing is in force');
    return this.inForce;
  }

  private enter(phase: FollowerPhase, ...effects: FollowerEffect[]): void {
    this.phase = phase;
    this.emit(...effects);
  }

  private emit(...effects: FollowerEffect[]): void {
    this.effects.push(...effects);
  }

  private log(level: 'warn' | 'error', fields: object, message: string): void {
    this.emit({ type: 'log', level, fields, message });
  }

  /** Another revision is in force. It is acknowledged only if it is what the log has. */
  private moveTo(inForce: Head, isRight = true): void {
    this.inForce = inForce;
    this.hasAwaited = false;
    this.pending.dropThrough(inForce);
    if (isRight) this.emit({ type: 'acknowledge', inForce });
    this.noteIfAtHead();
  }

  private noteIfAtHead(): void {
    if (this.head?.revision === this.inForce?.revision) this.emit({ type: 'noteAtHead' });
  }

  /** A step has succeeded. @param load the load that must follow, if any */
  private succeed(load: LoadCause | null = null): void {
    if (this.phase === 'stopping') return this.enter('stopped');
    this.load = load;
    this.enter('yielding', { type: 'yield' });
  }

  /** A step has failed. @param load as in `succeed` */
  private fail(load: LoadCause | null, reason: string): void {
    const { failures } = this;
    this.counters.feedFailures++;
    this.log('warn', { reason, failures }, 'cannot follow the change log; trying again');
    this.failures++;
    this.isPausing = true;
    this.load = load;
    this.enter('retrying', { type: 'pause', failures });
  }

  /** What is in force is not what the log has at that revision. */
  private repair(): void {
    this.counters.digestMismatches++;
    this.log(
      'error',
      { revision: this.inForce?.revision },
      'the configuration differs from the control plane; loading a snapshot',
    );
    this.succeed('digest');
  }
}

/** The revision that a snapshot must have at least, so that it ends the cause of the load. */
function leastRevision(cause: LoadCause, inForce: Head | null, head: Head | null): number {
  if (inForce === null) return 0;
  const { revision } = inForce;
  switch (cause) {
    case 'start':
    case 'disk':
    case 'lineage':
      return 0;
    // A log that was set back ends before the revision in force.
    case 'digest':
      return Math.min(revision, head?.revision ?? revision);
    // The next change replaces the configuration, cannot be applied or is not in the log.
    case 'replaced':
    case 'pruned':
    case 'failed':
      return revision + 1;
  }
}
