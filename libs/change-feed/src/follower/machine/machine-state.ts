import type { Change, Head } from '@weir/config-model';
import { ChangeBuffer } from './change-buffer.js';
import type { LoadCause } from './follower-counters.js';
import type {
  CounterName,
  FollowerEffect,
  FollowerEvent,
  FollowerKnowledge,
  FollowerPhase,
} from './follower-state.js';

/** The state of a `FollowerMachine`, the effects of the event under way, and the ends that steps have in common. */
export class MachineState {
  phase: FollowerPhase = { name: 'starting', inForce: null };
  known: FollowerKnowledge = {
    head: null,
    mustFetch: false,
    hasAwaited: false,
    isAnnounced: false,
    isCaughtUp: false,
    refusals: 0,
    failures: 0,
  };
  /** Changes that were received and are not in force. */
  readonly pending = new ChangeBuffer();
  /** The digest that the change under way must lead to. */
  expectedDigest = '';
  /** What the event under way leads to, in order. */
  effects: FollowerEffect[] = [];

  /** The change that follows the revision in force; undefined: it was not received. */
  get nextChange(): Change | undefined {
    const { inForce } = this.phase;
    return inForce === null ? undefined : this.pending.nextAfter(inForce);
  }

  know(change: Partial<FollowerKnowledge>): void {
    this.known = { ...this.known, ...change };
  }

  enter(phase: FollowerPhase, ...effects: FollowerEffect[]): void {
    this.phase = phase;
    this.emit(...effects);
  }

  emit(...effects: FollowerEffect[]): void {
    this.effects.push(...effects);
  }

  count(counter: CounterName): void {
    this.emit({ type: 'count', counter });
  }

  log(level: 'warn' | 'error', fields: object, message: string): void {
    this.emit({ type: 'log', level, fields, message });
  }

  /** Another revision is in force. It is acknowledged only if it is what the log has. */
  moveTo(inForce: Head, isRight = true): void {
    this.know({ hasAwaited: false });
    this.pending.dropThrough(inForce);
    if (isRight) this.emit({ type: 'acknowledge', inForce });
    this.noteIfAtHead(inForce);
  }

  noteIfAtHead(inForce: Head | null): void {
    if (this.known.head?.revision === inForce?.revision) this.emit({ type: 'noteAtHead' });
  }

  /** A step has succeeded. @param load the load that must follow, if any */
  succeed(inForce: Head, load: LoadCause | null = null): void {
    this.know({ failures: 0 });
    this.enter({ name: 'yielding', inForce, load }, { type: 'yield' });
  }

  /** A step has failed. @param load as in `succeed` */
  fail(load: LoadCause | null, reason: string): void {
    const { failures } = this.known;
    this.count('feedFailures');
    this.log('warn', { reason, failures }, 'cannot follow the change log; trying again');
    this.know({ failures: failures + 1 });
    const { inForce } = this.phase;
    this.enter({ name: 'retrying', inForce, load }, { type: 'pause', failures });
  }

  /** What is in force is not what the log has at that revision. */
  repair(inForce: Head): void {
    this.count('digestMismatches');
    this.log(
      'error',
      { revision: inForce.revision },
      'the configuration differs from the control plane; loading a snapshot',
    );
    this.succeed(inForce, 'digest');
  }

  end(inForce = this.phase.inForce): void {
    this.enter({ name: 'stopped', inForce }, { type: 'reportStopped' });
  }

  impossible(event: FollowerEvent['type']): Error {
    return new Error(`a follower that is ${this.phase.name} cannot take '${event}'`);
  }
}
