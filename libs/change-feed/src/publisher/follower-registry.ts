import { AcknowledgementWaits } from './acknowledgement-waits.js';
import { type FollowerState, LEASE_MS, type Position } from '../protocol/protocol.js';
import { type Applied, type ResolverPosition, ResolverPositions } from './resolver-positions.js';

interface LiveFollower {
  readonly state: FollowerState;
  /** Null: no write waits for it, because it is no resolver. */
  readonly resolver: ResolverPosition | null;
  readonly expiresAtMs: number;
}

/**
 * The followers that are alive, as one control-plane replica knows them, and the writes that wait for them. Times are
 * parameters: milliseconds of one monotonic clock. An acknowledgement costs O(log n) of n followers and of n waiting
 * writes.
 */
export class FollowerRegistry {
  private readonly followers = new Map<string, LiveFollower>();
  private readonly positions = new ResolverPositions();
  private readonly waits = new AcknowledgementWaits((lineage) => this.finished(lineage));
  private isComplete = false;
  private hasEndedWaits = false;

  /** Call it once every live follower is known. Before that no wait ends before its timeout. */
  markComplete(): void {
    this.isComplete = true;
    this.waits.endFinished();
  }

  /** Takes the state that a follower has published, and renews its lease. */
  update(state: FollowerState, nowMs: number): void {
    const resolver = positionOf(state);
    this.move(this.followers.get(state.id)?.resolver ?? null, resolver);
    if (state.revision === null) this.followers.delete(state.id);
    else this.followers.set(state.id, { state, resolver, expiresAtMs: nowMs + LEASE_MS });
    this.waits.endFinished();
  }

  /** Removes the followers whose lease has expired. */
  removeExpired(nowMs: number): void {
    for (const [id, { resolver, expiresAtMs }] of this.followers) {
      if (expiresAtMs > nowMs) continue;
      this.move(resolver, null);
      this.followers.delete(id);
    }
    this.waits.endFinished();
  }

  /** Renews every lease: no message could arrive for a while. */
  renewAll(nowMs: number): void {
    for (const [id, follower] of this.followers) {
      this.followers.set(id, { ...follower, expiresAtMs: nowMs + LEASE_MS });
    }
  }

  /** How many live resolvers have the revision in force. A resolver with another lineage does not count as applied. */
  applied(position: Position): Applied {
    return this.positions.applied(position);
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

  /** Whether every live follower reads several changes in one message. */
  allReadGroups(): boolean {
    for (const { state } of this.followers.values()) if (!state.readsGroups) return false;
    return true;
  }

  get size(): number {
    return this.followers.size;
  }

  private move(before: ResolverPosition | null, after: ResolverPosition | null): void {
    if (before !== null && after !== null) this.positions.replace(before, after);
    else if (before !== null) this.positions.remove(before);
    else if (after !== null) this.positions.add(after);
  }

  private finished(lineage: string | null): number {
    if (this.hasEndedWaits) return Infinity;
    return this.isComplete ? this.positions.common(lineage) : -1;
  }
}

function positionOf({ kind, lineage, revision }: FollowerState): ResolverPosition | null {
  return kind === 'resolver' && revision !== null ? { lineage, revision, place: 0 } : null;
}
