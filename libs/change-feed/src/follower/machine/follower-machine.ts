import type { Change, Head } from '@weir/config-model';
import type {
  FollowerEffect,
  FollowerEvent,
  FollowerKnowledge,
  FollowerPhase,
} from './follower-state.js';
import { MachineState } from './machine-state.js';
import { NextStep } from './next-step.js';
import { StepOutcomes } from './step-outcomes.js';

/** Phases in which a step is under way. */
const STEPS: ReadonlySet<FollowerPhase['name']> = new Set([
  'loading',
  'applying',
  'fetching',
  'announcing',
]);

/**
 * The decisions of a follower, without I/O, clock or randomness: an event leads to a new phase and to effects. The
 * README has the table of transitions.
 *
 * Redis may lose, repeat and reorder messages. So a message only adds to what is known. Revision numbers decide what
 * happens next.
 */
export class FollowerMachine {
  private readonly state = new MachineState();
  private readonly nextStep = new NextStep(this.state);
  private readonly outcomes = new StepOutcomes(this.state);

  get phase(): FollowerPhase {
    return this.state.phase;
  }

  get knowledge(): FollowerKnowledge {
    return this.state.known;
  }

  /** Whether the change that follows the revision in force was received. */
  get hasNextChange(): boolean {
    return this.state.nextChange !== undefined;
  }

  /** @returns what to do, in order. @throws Error when the event cannot happen in this phase. */
  handle(event: FollowerEvent): readonly FollowerEffect[] {
    this.state.effects = [];
    this.dispatch(event);
    return this.state.effects;
  }

  private dispatch(event: FollowerEvent): void {
    const { outcomes } = this;
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
        this.state.know({ mustFetch: true });
        return this.wake();
      case 'loaded':
        return outcomes.loaded(event.cause, event.head);
      case 'applied':
        return outcomes.applied(event.point);
      case 'fetched':
      case 'logPruned':
      case 'overtaken':
        return outcomes.fetched(event);
      case 'announced':
        return outcomes.announced();
      case 'failed':
        return outcomes.failed(event.kind, event.reason);
      case 'resumed':
        return this.resume();
      case 'awaited':
        return this.endWait();
      case 'stop':
        return this.stop();
    }
  }

  private receiveChange(change: Change & Head): void {
    const { state } = this;
    const { inForce } = state.phase;
    const isSameLog = inForce !== null && change.lineage === inForce.lineage;
    if (isSameLog && change.revision <= inForce.revision) state.count('duplicates');
    else state.pending.add(change.lineage, change);
    if (!isSameLog || change.revision >= inForce.revision) this.receiveHead(change);
  }

  private receiveHead(received: Head): void {
    const { state } = this;
    const { inForce } = state.phase;
    const { head } = state.known;
    const { lineage, revision, digest } = received;
    const isSameLog = inForce === null || inForce.lineage === lineage;
    if (isSameLog && (head?.lineage !== lineage || revision >= head.revision)) {
      state.know({ head: { lineage, revision, digest } });
      state.noteIfAtHead(inForce);
    }
    // As a rule the message is late. But a database that was set back or restored is noticed in this way too, and only
    // the feed API can tell which it is.
    if (!isSameLog || revision < (inForce?.revision ?? 0)) state.know({ mustFetch: true });
    this.wake();
  }

  private receiveLargeChange(head: Head): void {
    const { state } = this;
    const { inForce } = state.phase;
    const isInForce = inForce?.lineage === head.lineage && head.revision <= inForce.revision;
    if (!isInForce) state.know({ mustFetch: true });
    this.receiveHead(head);
  }

  /** Begins a step if none is under way. */
  private wake(): void {
    const { name, inForce } = this.phase;
    const isAwaited = name === 'awaiting' && (this.hasNextChange || this.knowledge.mustFetch);
    if (name === 'starting' || name === 'idle' || isAwaited) this.nextStep.begin(inForce, null);
  }

  private endWait(): void {
    const { name, inForce } = this.phase;
    if (name !== 'awaiting') return;
    this.state.know({ hasAwaited: true });
    this.nextStep.begin(inForce, null);
  }

  private resume(): void {
    const { phase } = this;
    if (phase.name === 'stopped') return;
    if (phase.name !== 'yielding' && phase.name !== 'retrying') {
      throw this.state.impossible('resumed');
    }
    this.nextStep.begin(phase.inForce, phase.load);
  }

  private stop(): void {
    const { name, inForce } = this.phase;
    if (STEPS.has(name)) this.state.enter({ name: 'stopping', inForce });
    else if (name !== 'stopping' && name !== 'stopped') this.state.end();
  }
}
