import type { Head, LogPoint } from '@weir/config-model';
import type { LoadCause } from './follower-counters.js';
import type { ChangesPage, FailureKind, FollowerEvent, FollowerPhase } from './follower-state.js';
import type { MachineState } from './machine-state.js';

/** How many refusals of the feed API in a row lead to a snapshot. */
const MAX_REFUSALS = 3;

type Fetching = Extract<FollowerPhase, { name: 'fetching' }>;
export type FetchOutcome = Extract<FollowerEvent, { type: 'fetched' | 'logPruned' | 'overtaken' }>;

/** What follows from the outcome of a step. The README has the table. */
export class StepOutcomes {
  constructor(private readonly state: MachineState) {}

  loaded(cause: LoadCause, inForce: Head): void {
    const { state } = this;
    state.emit({ type: 'countLoad', cause });
    // The head of another log says nothing about this one.
    if (state.known.head?.lineage !== inForce.lineage) state.know({ head: null });
    state.moveTo(inForce);
    const { name } = state.phase;
    if (name === 'starting' || name === 'stopped') state.enter({ name, inForce });
    else if (name === 'stopping') state.end(inForce);
    else if (name === 'loading') state.succeed(inForce);
    else throw state.impossible('loaded');
  }

  applied(point: LogPoint): void {
    const { state } = this;
    const { name, inForce: before } = state.phase;
    if ((name !== 'applying' && name !== 'stopping') || before === null) {
      throw state.impossible('applied');
    }
    const inForce = { ...before, ...point };
    const isRight = point.digest === state.expectedDigest;
    state.count('changesApplied');
    state.moveTo(inForce, isRight);
    state.emit({ type: 'recordIfDue' });
    if (name === 'stopping') state.end(inForce);
    else if (isRight) state.succeed(inForce);
    else state.repair(inForce);
  }

  fetched(event: FetchOutcome): void {
    const { state } = this;
    const { phase } = state;
    if (phase.name === 'stopping') return state.end();
    if (phase.name !== 'fetching') throw state.impossible(event.type);
    state.know({ refusals: 0 });
    if (event.type === 'fetched') return this.recordPage(phase, event.page);
    // After `overtaken`, the next step applies the change that was received meanwhile.
    state.succeed(phase.inForce, event.type === 'logPruned' ? 'pruned' : null);
  }

  announced(): void {
    const { state } = this;
    const { phase } = state;
    if (phase.name === 'stopping') return state.end();
    if (phase.name !== 'announcing') throw state.impossible('announced');
    // From now on writes wait for this follower. What was committed before they knew of it is in the log.
    state.know({ isAnnounced: true, mustFetch: true });
    state.succeed(phase.inForce);
  }

  failed(kind: FailureKind, reason: string): void {
    const { state } = this;
    const { phase } = state;
    if (phase.name === 'stopping') return state.end();
    if (kind === 'wrongDigest') state.count('digestMismatches');
    switch (phase.name) {
      case 'loading':
        return state.fail(phase.cause, reason);
      case 'applying':
        return state.fail('failed', reason);
      case 'fetching':
        return state.fail(this.loadAfterFailedFetch(kind), reason);
      case 'announcing':
        return state.fail(null, reason);
      default:
        throw state.impossible('failed');
    }
  }

  private recordPage({ inForce, headBefore }: Fetching, page: ChangesPage): void {
    const { state } = this;
    const { revision } = inForce;
    const { lineage } = page.head;
    if (lineage !== inForce.lineage) {
      state.log(
        'warn',
        { revision, headRevision: page.head.revision },
        'the database was restored or is another one; loading its configuration',
      );
      return state.succeed(inForce, 'lineage');
    }
    for (const change of page.changes) state.pending.add(lineage, change);
    // A head that was received during the request is newer than the page.
    const { head } = state.known;
    if (head === headBefore || page.head.revision > (head?.revision ?? 0)) {
      state.know({ head: page.head });
    }
    state.noteIfAtHead(inForce);
    // The log ends before the revision in force: the database was set back. Only a snapshot tells what it holds.
    if (page.head.revision < revision) return state.succeed(inForce, 'digest');
    if (page.head.revision > revision && state.nextChange === undefined) {
      return state.fail('failed', `the change log has no revision ${revision + 1}`);
    }
    state.succeed(inForce);
  }

  /** @returns the load that follows, if any: the feed API can be reached and has refused the changes too often. */
  private loadAfterFailedFetch(kind: FailureKind): LoadCause | null {
    const { state } = this;
    const refusals = state.known.refusals + (kind === 'refused' ? 1 : 0);
    const isTooOften = kind === 'refused' && refusals >= MAX_REFUSALS;
    state.know({ mustFetch: true, refusals: isTooOften ? 0 : refusals });
    return isTooOften ? 'failed' : null;
  }
}
