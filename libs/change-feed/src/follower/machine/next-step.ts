import type { Change, Head } from '@weir/config-model';
import type { LoadCause } from './follower-counters.js';
import type { MachineState } from './machine-state.js';

/** Chooses the one step that leads on from the configuration in force. The README has the table. */
export class NextStep {
  constructor(private readonly state: MachineState) {}

  /** @param load a load that is due */
  begin(inForce: Head | null, load: LoadCause | null): void {
    const { state } = this;
    if (inForce === null || load !== null) return this.load(inForce, load ?? 'start');
    const change = state.pending.nextAfter(inForce);
    if (change) return this.apply(inForce, change);
    const { head, mustFetch, hasAwaited, isAnnounced } = state.known;
    const isBehind = head !== null && head.revision > inForce.revision;
    if (mustFetch || (isBehind && hasAwaited)) return this.fetch(inForce);
    if (isBehind) return state.enter({ name: 'awaiting', inForce }, { type: 'await' });
    if (!isAnnounced) {
      return state.enter({ name: 'announcing', inForce }, { type: 'announce', inForce });
    }
    if (head?.revision === inForce.revision && head.digest !== inForce.digest) {
      return state.repair(inForce);
    }
    state.know({ isCaughtUp: true });
    state.enter({ name: 'idle', inForce }, { type: 'recordIfDue' }, { type: 'reportCaughtUp' });
  }

  private load(inForce: Head | null, cause: LoadCause): void {
    const { state } = this;
    // Changes that were received before the difference was noticed may belong to another log.
    if (cause === 'digest') state.pending.clear();
    const atLeast = leastRevision(cause, inForce, state.known.head);
    state.enter({ name: 'loading', inForce, cause }, { type: 'load', cause, atLeast });
  }

  private apply(inForce: Head, change: Change): void {
    const { state } = this;
    if (change.operations.some((operation) => operation.type === 'reload')) {
      // Its work is the load. If the database is set back meanwhile, it must not lead to another load.
      state.pending.drop(change);
      return state.succeed(inForce, 'replaced');
    }
    state.expectedDigest = change.digest;
    state.enter({ name: 'applying', inForce, change }, { type: 'apply', change });
  }

  private fetch(inForce: Head): void {
    const { state } = this;
    const { head } = state.known;
    if (head !== null && head.revision > inForce.revision) state.count('gaps');
    state.know({ mustFetch: false, hasAwaited: false });
    state.enter({ name: 'fetching', inForce, headBefore: head }, { type: 'fetch', inForce });
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
