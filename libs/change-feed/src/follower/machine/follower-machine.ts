import type { Change, Head, LogPoint } from '@weir/config-model';
import type { ChangesPage } from '../../protocol/changes.js';
import { ChangeBuffer } from './change-buffer.js';
import {
  type FailureKind,
  type FollowerCounters,
  type FollowerEffect,
  type FollowerEvent,
  type FollowerKnowledge,
  type FollowerPhase,
  type LoadCause,
  newCounters,
} from './follower-state.js';

/** Phases in which a step is under way. */
const STEPS: ReadonlySet<FollowerPhase['name']> = new Set([
  'loading',
  'applying',
  'fetching',
  'announcing',
]);

/** How many refusals of the feed API in a row lead to a snapshot. */
const MAX_REFUSALS = 3;

type Fetching = Extract<FollowerPhase, { name: 'fetching' }>;
type FetchOutcome = Extract<FollowerEvent, { type: 'fetched' | 'logPruned' | 'overtaken' }>;

/**
 * The decisions of a follower, without I/O, clock or randomness: an event leads to a new phase and to effects.
 * FOLLOWER.md has the tables of transitions.
 *
 * Redis may lose, repeat and reorder messages. So a message only adds to what is known. Revision numbers decide what
 * happens next.
 */
export class FollowerMachine {
  readonly counters: FollowerCounters = newCounters();
  private current: FollowerPhase = { name: 'starting', inForce: null };
  private known: FollowerKnowledge = {
    head: null,
    mustFetch: false,
    hasAwaited: false,
    isAnnounced: false,
    isCaughtUp: false,
    refusals: 0,
    failures: 0,
  };
  /** Changes that were received and are not in force. */
  private readonly pending = new ChangeBuffer();
  /** The digest that the change under way must lead to. */
  private expectedDigest = '';
  /** What the event under way leads to, in order. */
  private effects: FollowerEffect[] = [];

  get phase(): FollowerPhase {
    return this.current;
  }

  get knowledge(): FollowerKnowledge {
    return this.known;
  }

  /** Whether the change that follows the revision in force was received. */
  get hasNextChange(): boolean {
    const { inForce } = this.phase;
    return inForce !== null && this.pending.nextAfter(inForce) !== undefined;
  }

  /** @returns what to do, in order. @throws Error when the event cannot happen in this phase. */
  handle(event: FollowerEvent): readonly FollowerEffect[] {
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
        return this.receiveLargeChange(event.head);
      case 'messagesMissed':
        this.know({ mustFetch: true });
        return this.wake();
      case 'loaded':
        return this.loaded(event.cause, event.head);
      case 'applied':
        return this.applied(event.point);
      case 'fetched':
      case 'logPruned':
      case 'overtaken':
        return this.fetched(event);
      case 'announced':
        return this.announced();
      case 'failed':
        return this.failed(event.kind, event.reason);
      case 'resumed':
        return this.resume();
      case 'awaited':
        return this.endWait();
      case 'stop':
        return this.stop();
    }
  }

  private receiveChange(change: Change & Head): void {
    const { inForce } = this.phase;
    const isSameLog = inForce !== null && change.lineage === inForce.lineage;
    if (isSameLog && change.revision <= inForce.revision) this.counters.duplicates++;
    else this.pending.add(change.lineage, change);
    if (!isSameLog || change.revision >= inForce.revision) this.receiveHead(change);
  }

  private receiveHead(received: Head): void {
    const { inForce } = this.phase;
    const { head } = this.known;
    const { lineage, revision, digest } = received;
    const isSameLog = inForce === null || inForce.lineage === lineage;
    if (isSameLog && (head?.lineage !== lineage || revision >= head.revision)) {
      this.know({ head: { lineage, revision, digest } });
      this.noteIfAtHead(inForce);
    }
    // As a rule the message is late. But a database that was set back or restored is noticed in this way too, and only
    // the feed API can tell which it is.
    if (!isSameLog || revision < (inForce?.revision ?? 0)) this.know({ mustFetch: true });
    this.wake();
  }

  private receiveLargeChange(head: Head): void {
    const { inForce } = this.phase;
    const isInForce = inForce?.lineage === head.lineage && head.revision <= inForce.revision;
    if (!isInForce) this.know({ mustFetch: true });
    this.receiveHead(head);
  }

  /** Begins a step if none is under way. */
  private wake(): void {
    const { name, inForce } = this.phase;
    const isAwaited = name === 'awaiting' && (this.hasNextChange || this.knowledge.mustFetch);
    if (name === 'starting' || name === 'idle' || isAwaited) this.begin(inForce, null);
  }

  private endWait(): void {
    const { name, inForce } = this.phase;
    if (name !== 'awaiting') return;
    this.know({ hasAwaited: true });
    this.begin(inForce, null);
  }

  private resume(): void {
    const { phase } = this;
    if (phase.name === 'stopped') return;
    if (phase.name !== 'yielding' && phase.name !== 'retrying') {
      throw this.impossible('resumed');
    }
    this.begin(phase.inForce, phase.load);
  }

  private stop(): void {
    const { name, inForce } = this.phase;
    if (STEPS.has(name)) this.enter({ name: 'stopping', inForce });
    else if (name !== 'stopping' && name !== 'stopped') this.end();
  }

  // The next step

  /** Begins the one step that leads on from the configuration in force. @param load a load that is due */
  private begin(inForce: Head | null, load: LoadCause | null): void {
    if (inForce === null || load !== null) return this.load(inForce, load ?? 'start');
    const change = this.pending.nextAfter(inForce);
    if (change) return this.apply(inForce, change);
    const { head, mustFetch, hasAwaited, isAnnounced } = this.known;
    const isBehind = head !== null && head.revision > inForce.revision;
    if (mustFetch || (isBehind && hasAwaited)) return this.fetch(inForce);
    if (isBehind) return this.enter({ name: 'awaiting', inForce }, { type: 'await' });
    if (!isAnnounced) {
      return this.enter({ name: 'announcing', inForce }, { type: 'announce', inForce });
    }
    if (head?.revision === inForce.revision && head.digest !== inForce.digest) {
      return this.repair(inForce);
    }
    this.know({ isCaughtUp: true });
    this.enter({ name: 'idle', inForce }, { type: 'recordIfDue' }, { type: 'reportCaughtUp' });
  }

  private load(inForce: Head | null, cause: LoadCause): void {
    // Changes that were received before the difference was noticed may belong to another log.
    if (cause === 'digest') this.pending.clear();
    const atLeast = leastRevision(cause, inForce, this.known.head);
    this.enter({ name: 'loading', inForce, cause }, { type: 'load', cause, atLeast });
  }

  private apply(inForce: Head, change: Change): void {
    if (change.operations.some((operation) => operation.type === 'reload')) {
      // Its work is the load. If the database is set back meanwhile, it must not lead to another load.
      this.pending.drop(change);
      return this.succeed(inForce, 'replaced');
    }
    this.expectedDigest = change.digest;
    this.enter({ name: 'applying', inForce, change }, { type: 'apply', change });
  }

  private fetch(inForce: Head): void {
    const { head } = this.known;
    if (head !== null && head.revision > inForce.revision) this.counters.gaps++;
    this.know({ mustFetch: false, hasAwaited: false });
    this.enter({ name: 'fetching', inForce, headBefore: head }, { type: 'fetch', inForce });
  }

  // Outcomes of steps

  private loaded(cause: LoadCause, inForce: Head): void {
    this.counters.loads[cause]++;
    // The head of another log says nothing about this one.
    if (this.known.head?.lineage !== inForce.lineage) this.know({ head: null });
    this.moveTo(inForce);
    const { name } = this.phase;
    if (name === 'starting' || name === 'stopped') this.enter({ name, inForce });
    else if (name === 'stopping') this.end(inForce);
    else if (name === 'loading') this.succeed(inForce);
    else throw this.impossible('loaded');
  }

  private applied(point: LogPoint): void {
    const { name, inForce: before } = this.phase;
    if ((name !== 'applying' && name !== 'stopping') || before === null) {
      throw this.impossible('applied');
    }
    const inForce = { ...before, ...point };
    const isRight = point.digest === this.expectedDigest;
    this.counters.changesApplied++;
    this.moveTo(inForce, isRight);
    this.emit({ type: 'recordIfDue' });
    if (name === 'stopping') this.end(inForce);
    else if (isRight) this.succeed(inForce);
    else this.repair(inForce);
  }

  private fetched(event: FetchOutcome): void {
    const { phase } = this;
    if (phase.name === 'stopping') return this.end();
    if (phase.name !== 'fetching') throw this.impossible(event.type);
    this.know({ refusals: 0 });
    if (event.type === 'fetched') return this.recordPage(phase, event.page);
    // After `overtaken`, the next step applies the change that was received meanwhile.
    this.succeed(phase.inForce, event.type === 'logPruned' ? 'pruned' : null);
  }

  private announced(): void {
    const { phase } = this;
    if (phase.name === 'stopping') return this.end();
    if (phase.name !== 'announcing') throw this.impossible('announced');
    // From now on writes wait for this follower. What was committed before they knew of it is in the log.
    this.know({ isAnnounced: true, mustFetch: true });
    this.succeed(phase.inForce);
  }

  private failed(kind: FailureKind, reason: string): void {
    const { phase } = this;
    if (phase.name === 'stopping') return this.end();
    if (kind === 'wrongDigest') this.counters.digestMismatches++;
    switch (phase.name) {
      case 'loading':
        return this.fail(phase.cause, reason);
      case 'applying':
        return this.fail('failed', reason);
      case 'fetching':
        return this.fail(this.loadAfterFailedFetch(kind), reason);
      case 'announcing':
        return this.fail(null, reason);
      default:
        throw this.impossible('failed');
    }
  }

  private recordPage({ inForce, headBefore }: Fetching, page: ChangesPage): void {
    const { revision } = inForce;
    const { lineage } = page.head;
    if (lineage !== inForce.lineage) {
      this.log(
        'warn',
        { revision, headRevision: page.head.revision },
        'the database was restored or is another one; loading its configuration',
      );
      return this.succeed(inForce, 'lineage');
    }
    for (const change of page.changes) this.pending.add(lineage, change);
    // A head that was received during the request is newer than the page.
    const { head } = this.known;
    if (head === headBefore || page.head.revision > (head?.revision ?? 0)) {
      this.know({ head: page.head });
    }
    this.noteIfAtHead(inForce);
    // The log ends before the revision in force: the database was set back. Only a snapshot tells what it holds.
    if (page.head.revision < revision) return this.succeed(inForce, 'digest');
    if (page.head.revision > revision && !this.hasNextChange) {
      return this.fail('failed', `the change log has no revision ${revision + 1}`);
    }
    this.succeed(inForce);
  }

  /** @returns the load that follows, if any: the feed API can be reached and has refused the changes too often. */
  private loadAfterFailedFetch(kind: FailureKind): LoadCause | null {
    const refusals = this.known.refusals + (kind === 'refused' ? 1 : 0);
    const isTooOften = kind === 'refused' && refusals >= MAX_REFUSALS;
    this.know({ mustFetch: true, refusals: isTooOften ? 0 : refusals });
    return isTooOften ? 'failed' : null;
  }

  private know(change: Partial<FollowerKnowledge>): void {
    this.known = { ...this.known, ...change };
  }

  private enter(phase: FollowerPhase, ...effects: FollowerEffect[]): void {
    this.current = phase;
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
    this.know({ hasAwaited: false });
    this.pending.dropThrough(inForce);
    if (isRight) this.emit({ type: 'acknowledge', inForce });
    this.noteIfAtHead(inForce);
  }

  private noteIfAtHead(inForce: Head | null): void {
    if (this.known.head?.revision === inForce?.revision) this.emit({ type: 'noteAtHead' });
  }

  /** A step has succeeded. @param load the load that must follow, if any */
  private succeed(inForce: Head, load: LoadCause | null = null): void {
    this.know({ failures: 0 });
    this.enter({ name: 'yielding', inForce, load }, { type: 'yield' });
  }

  /** A step has failed. @param load as in `succeed` */
  private fail(load: LoadCause | null, reason: string): void {
    const { failures } = this.known;
    this.counters.feedFailures++;
    this.log('warn', { reason, failures }, 'cannot follow the change log; trying again');
    this.know({ failures: failures + 1 });
    const { inForce } = this.phase;
    this.enter({ name: 'retrying', inForce, load }, { type: 'pause', failures });
  }

  /** What is in force is not what the log has at that revision. */
  private repair(inForce: Head): void {
    this.counters.digestMismatches++;
    this.log(
      'error',
      { revision: inForce.revision },
      'the configuration differs from the control plane; loading a snapshot',
    );
    this.succeed(inForce, 'digest');
  }

  private end(inForce = this.phase.inForce): void {
    this.enter({ name: 'stopped', inForce }, { type: 'reportStopped' });
  }

  private impossible(event: FollowerEvent['type']): Error {
    return new Error(`a follower that is ${this.phase.name} cannot take '${event}'`);
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
