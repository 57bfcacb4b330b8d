import type { Change, Head, Operation } from '@weir/config-model';
import { FollowerMachine } from '../follower/machine/follower-machine.js';
import type {
  FailureKind,
  FollowerEffect,
  FollowerEvent,
} from '../follower/machine/follower-state.js';
import { digestOf, type SimulatedLog } from './simulated-log.js';

type Step = Extract<
  FollowerEffect,
  { type: 'load' | 'apply' | 'fetch' | 'announce' | 'yield' | 'await' }
>;

/**
 * Carries out the effects of a `FollowerMachine` on a simulated target and log. Throws as soon as one of them breaks a
 * rule of the change feed. A step stays under way until `succeed` or `fail` is called.
 */
export class SimulatedFollower {
  readonly machine = new FollowerMachine();
  /** What the target holds, and which point of the log the target was told that this is. */
  content: readonly number[] = [];
  inForce: Head | null = null;
  acknowledged: Head | null = null;
  private step: Step | null = null;
  private isNextApplyWrong = false;
  private isPausing = false;

  constructor(private readonly log: SimulatedLog) {}

  get isStepUnderWay(): boolean {
    return this.step !== null || this.isPausing;
  }

  handle(event: FollowerEvent): void {
    for (const effect of this.machine.handle(event)) this.carryOut(effect);
    const { phase, inForce } = this.machine;
    assertRule(sameHead(inForce, this.inForce), 'the machine knows what is in force');
    const isAtRest = phase === 'idle' || phase === 'stopped';
    assertRule(
      isAtRest !== this.isStepUnderWay || phase === 'stopped',
      'a step is under way unless at rest',
    );
    if (phase === 'idle') this.checkCaughtUp();
  }

  /** Makes the target apply the next change wrongly. */
  corruptNextApply(): void {
    this.isNextApplyWrong = true;
  }

  /** Ends the step that is under way, with what the log says now. */
  succeed(): void {
    const { step } = this;
    this.step = null;
    if (step === null) return this.endPause();
    switch (step.type) {
      case 'load':
        return this.load(step.cause, step.atLeast);
      case 'apply':
        return this.apply(step.change);
      case 'fetch':
        return this.handle(this.fetched(step.inForce));
      case 'announce':
        return this.handle({ type: 'announced' });
      case 'await':
        return this.handle({ type: 'awaited' });
      default:
        return this.handle({ type: 'resumed' });
    }
  }

  /** Ends the pause after a failed step, whatever is under way. */
  endPause(): void {
    if (!this.isPausing) return;
    this.isPausing = false;
    this.handle({ type: 'retried' });
  }

  /** Ends the step that is under way with a failure. A wait and an announcement cannot fail. */
  fail(kind: FailureKind): void {
    const type = this.step?.type;
    if (type !== 'load' && type !== 'apply' && type !== 'fetch') return;
    this.step = null;
    this.handle({ type: 'failed', kind, reason: 'simulated' });
  }

  private load(cause: Extract<Step, { type: 'load' }>['cause'], atLeast: number): void {
    const { head, content } = this.log.snapshot(atLeast);
    this.content = content;
    this.inForce = head;
    this.handle({ type: 'loaded', cause, head: this.inForce });
  }

  private apply(change: Change): void {
    const { inForce } = this;
    assertRule(inForce !== null, 'a change is applied to a configuration');
    assertRule(change.revision === inForce.revision + 1, 'changes are applied in order, each once');
    for (const operation of change.operations) {
      if (!this.isNextApplyWrong) this.content = [...this.content, addedBy(operation)];
    }
    this.isNextApplyWrong = false;
    const point = { revision: change.revision, digest: digestOf(this.content) };
    this.inForce = { ...inForce, ...point };
    this.handle({ type: 'applied', point });
  }

  private fetched({ revision }: Head): FollowerEvent {
    if (this.machine.hasNextChange) return { type: 'overtaken' };
    const page = this.log.changesAfter(revision);
    return page === null ? { type: 'logPruned' } : { type: 'fetched', page };
  }

  private carryOut(effect: FollowerEffect): void {
    switch (effect.type) {
      case 'load':
      case 'apply':
      case 'fetch':
      case 'yield':
      case 'await':
        return this.begin(effect);
      case 'pause':
        this.isPausing = true;
        return;
      case 'announce':
        this.acknowledge(effect.inForce);
        return this.begin(effect);
      case 'acknowledge':
        return this.acknowledge(effect.inForce);
      // Nothing to simulate.
      case 'noteAtHead':
      case 'recordIfDue':
      case 'log':
        return;
    }
  }

  private begin(step: Step): void {
    // A change that comes ends the wait for it.
    assertRule(this.step === null || this.step.type === 'await', 'one step at a time');
    this.step = step;
  }

  private acknowledge(head: Head): void {
    assertRule(sameHead(head, this.inForce), 'only what is in force is acknowledged');
    assertRule(head.digest === digestOf(this.content), 'the digest is that of the target');
    assertRule(this.log.hasHad(head), 'only what the log has or had is acknowledged');
    this.acknowledged = head;
  }

  /** At rest, nothing that was received is newer than, or differs from, what is in force. */
  private checkCaughtUp(): void {
    const { head } = this.machine;
    if (head === null) return;
    assertRule(head.revision <= (this.inForce?.revision ?? -1), 'no gap at rest');
    if (head.revision === this.inForce?.revision) {
      assertRule(head.digest === this.inForce.digest, 'no wrong digest at rest');
    }
  }
}

function addedBy(operation: Operation): number {
  assertRule(operation.type === 'put', 'only puts are applied');
  assertRule(operation.kind === 'blockPage', 'only this kind is simulated');
  return operation.entity.id;
}

function sameHead(one: Head | null, other: Head | null): boolean {
  if (one === null || other === null) return one === other;
  const { lineage, revision, digest } = other;
  return one.lineage === lineage && one.revision === revision && one.digest === digest;
}

function assertRule(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`broken rule: ${rule}`);
}
