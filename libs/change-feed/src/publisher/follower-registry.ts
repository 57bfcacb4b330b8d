import { AcknowledgementWaits } from './acknowledgement-waits.js';
import { type FollowerState, LEASE_MS, type Position } from '../protocol/protocol.js';

interface LiveFollower {
  readonly state: FollowerState;
  readonly expiresAtMs: number;
}

/** `applied` of `total` live resolvers have a change in force. */
export interface Applied {
  readonly applied: number;
  readonly total: number;
}

/**
 * The followers that are alive, as one control-plane replica knows them, and the writes that wait for them. Times are
 * parameters: milliseconds of one monotonic clock.
 */
export class FollowerRegistry {
  private readonly followers = new Map<string, LiveFollower>();
  private readonly waits = new AcknowledgementWaits((position) => this.isFinished(position));
  private isComplete = false;
  private hasEndedWaits = false;

  /** Call it once every live follower is known. Before that no wait ends before its timeout. */
  markComplete(): void {
    this.isComplete = true;
    this.waits.endFinished();
  }

  /** Takes the state that a follower has published, and renews its lease. */
  update(state: FollowerState, nowMs: number): void {
    if (state.revision === null) this.followers.delete(state.id);
    else this.followers.set(state.id, { state, expiresAtMs: nowMs + LEASE_MS });
    this.waits.endFinished();
  }

  /** Removes the followers whose lease has expired. */
  removeExpired(nowMs: number): void {
    for (const [id, follower] of this.followers) {
      if (follower.expiresAtMs <= nowMs) this.followers.delete(id);
    }
    this.waits.endFinished();
  }

  /** Renews every lease: no message could arrive for a while. */
  renewAll(nowMs: number): void {
    for (const [id, { state }] of this.followers) {
      this.followers.set(id, { state, expiresAtMs: nowMs + LEASE_MS });
    }
  }

  /** How many live resolvers have the revision in force. A resolver with another lineage does not count as applied. */
  applied({ lineage, revision }: Position): Applied {
    let applied = 0;
    let total = 0;
    for (const { state } of this.followers.values()) {
      if (state.kind !== 'resolver') continue;
      total++;
      const isSameLog = state.lineage === null || state.lineage === lineage;
      if (isSameLog && (state.revision ?? -1) >= revision) applied++;
    }
    return { applied, total };
  }

  /** Ends all waits with the present counts. Later waits end at once. */
  endWaits(): void {
    this.hasEndedWaits = true;
    this.waits.endFinished();
  }

  /** Resolves as soon as every live resolver has the revision in force, or after `timeoutMs`. */
  async waitApplied(position: Position, timeoutMs: number): Promise<Applied> {
    await this.waits.wait(position, timeoutMs);
    return this.applied(position);
  }

  /** The live followers. */
  states(): readonly FollowerState[] {
    return Array.from(this.followers.values(), ({ state }) => state);
  }

  private isFinished(position: Position): boolean {
    const { applied, total } = this.applied(position);
    return this.hasEndedWaits || (this.isComplete && applied === total);
  }
}
