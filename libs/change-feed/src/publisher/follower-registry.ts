import { type FollowerState, LEASE_MS, type Position } from '../protocol/protocol.js';
import { AcknowledgementWaits, type Applied, ResolverPositions } from './acknowledgements.js';
import type { Judgement } from './claim-verifier.js';

/**
 * A follower that has said 4, which is right, and then 5:
 *
 * | 5 is    | proven | claimed | it counts as |
 * | ------- | ------ | ------- | ------------ |
 * | right   | 5      | null    | at 5         |
 * | unknown | 4      | 5       | at 4         |
 * | wrong   | null   | null    | at −1        |
 *
 * A read of the head may be under way that proves 5. So 5 stays claimed when the follower then says 6.
 */
interface LiveFollower {
  /** What it said last. */
  readonly state: FollowerState;
  /** The newest of its states that is known to be right. */
  readonly proven: FollowerState | null;
  /** The oldest of its states that only the head of the log can prove. */
  readonly claimed: FollowerState | null;
  /** At which position it counts, for the writes that wait for resolvers. Null: it is no resolver. */
  readonly countedAt: Position | null;
  readonly expiresAtMs: number;
  readonly seenMs: number;
  /** A newer follower with its name, while this one has said nothing since: then it counts as dead. */
  readonly successor: FollowerState | null;
}

interface MissingResolver extends KnownResolver {
  readonly untilMs: number;
}

/** A resolver that counts: a live one, or one whose lease has ended without a goodbye. */
export interface KnownResolver {
  /** What it said last, with the last status that it has told. */
  readonly state: FollowerState;
  /** What it says is in force is not what the log has there. */
  readonly isWrong: boolean;
  readonly isMissing: boolean;
  readonly seenMs: number;
}

export type OnSharedName = (name: string, ids: readonly [string, string]) => void;

/**
 * The followers that are alive, as one control-plane replica knows them, and the writes that wait for them. A wait ends
 * when the proven state of every live resolver has its revision. Until all that live are known (`markComplete`), and
 * while it is held (`hold`), nothing counts as applied, and a wait ends at its timeout. Times are parameters:
 * milliseconds of one monotonic clock. The work of an acknowledgement grows with the number of different revisions in
 * force, not with that of followers. The waits are looked through when the lowest of these revisions rises.
 */
export class FollowerRegistry {
  private readonly followers = new Map<string, LiveFollower>();
  /** Resolvers whose lease ended without a goodbye, by id (decisions §10). */
  private readonly missing = new Map<string, MissingResolver>();
  private readonly positions = new ResolverPositions();
  private readonly waits = new AcknowledgementWaits(
    (lineage) => this.finished(lineage),
    (position) => this.applied(position),
  );
  private isComplete = false;
  private hasEndedWaits = false;
  private isHeld = false;

  /** @param missingMs how long a resolver counts after its lease has ended without a goodbye. */
  constructor(
    private readonly missingMs = 0,
    private readonly onSharedName: OnSharedName = () => undefined,
  ) {}

  /**
   * Call it once every live follower is known. Before that, and after `markIncomplete`, no wait ends before its
   * timeout, and nothing counts as applied: those that are known may not be all.
   */
  markComplete(): void {
    this.isComplete = true;
    this.waits.endFinished();
  }

  /** Call it when followers may start that are not heard of. */
  markIncomplete(): void {
    this.isComplete = false;
    this.waits.endFinished();
  }

  /** While it is held, nothing counts as applied, and no wait ends before its timeout. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.waits.endFinished();
  }

  /**
   * Takes the state that a follower has published, and renews its lease. What it says is in force counts only if it is
   * right. Until that is known, what it said before counts: changes of other replicas must hold up no write here.
   * @param seenMs when it was said: a lease is read later.
   */
  update(
    state: FollowerState,
    nowMs: number,
    judgement: Judgement = 'right',
    seenMs = nowMs,
  ): void {
    const before = this.followers.get(state.id);
    this.missing.delete(state.id);
    const successor =
      before === undefined ? this.takePlace(state, seenMs) : this.successorOf(before, seenMs);
    if (before?.successor && successor === null) this.reportSharedName(state, before.successor);
    if (state.inForce === null) {
      this.move(before?.countedAt ?? null, null);
      this.followers.delete(state.id);
    } else {
      const isUnknown = judgement === 'unknown';
      const earlier = isUnknown && isLater(state, before?.state) ? before : undefined;
      const proven = judgement === 'right' ? state : (earlier?.proven ?? null);
      const claimed = isUnknown ? (earlier?.claimed ?? state) : null;
      const countedAt = positionOf(state, proven);
      this.move(before?.countedAt ?? null, countedAt);
      this.followers.set(state.id, {
        state: { ...state, status: state.status ?? before?.state.status },
        ...{ proven, claimed, countedAt, seenMs, expiresAtMs: nowMs + LEASE_MS, successor },
      });
    }
    this.waits.endFinished();
  }

  judge(judge: (state: FollowerState) => Judgement): void {
    for (const [id, follower] of this.followers) {
      const { state, claimed } = follower;
      const judgement = judge(state);
      const known = judgement === 'unknown' ? [claimed, follower.proven] : [];
      const isRight = (one: FollowerState | null): boolean =>
        one !== null && judge(one) === 'right';
      const proven = judgement === 'right' ? state : (known.find(isRight) ?? null);
      const isProven = claimed === null || claimed === proven;
      const stillClaimed = judgement === 'unknown' ? (isProven ? state : claimed) : null;
      if (proven === follower.proven && stillClaimed === claimed) continue;
      const countedAt = positionOf(state, proven);
      this.move(follower.countedAt, countedAt);
      this.followers.set(id, { ...follower, proven, claimed: stillClaimed, countedAt });
    }
    this.waits.endFinished();
  }

  /** Removes the followers whose lease has expired. No wait lasts for them, but resolvers count for a while. */
  removeExpired(nowMs: number): void {
    for (const [id, follower] of this.followers) {
      const { countedAt, expiresAtMs, successor } = follower;
      if (expiresAtMs > nowMs) continue;
      this.move(countedAt, null);
      this.followers.delete(id);
      if (countedAt === null || successor !== null) continue;
      const untilMs = expiresAtMs + this.missingMs;
      this.missing.set(id, { ...known(follower), isMissing: true, untilMs });
    }
    for (const [id, { untilMs }] of this.missing) if (untilMs <= nowMs) this.missing.delete(id);
    this.waits.endFinished();
  }

  /** Takes a resolver whose lease had ended before this replica could know of it. */
  addMissing(state: FollowerState, endedMs: number, nowMs: number): void {
    const { id, name } = state;
    const untilMs = endedMs + this.missingMs;
    if (untilMs <= nowMs || this.followers.has(id) || this.missing.has(id)) return;
    if (name !== null && this.states().some((one) => one.name === name)) return;
    const seenMs = endedMs - LEASE_MS;
    for (const [other, one] of this.missing) {
      if (name === null || one.state.name !== name) continue;
      if (one.seenMs > seenMs) return;
      this.missing.delete(other);
    }
    this.missing.set(id, { state, isWrong: false, isMissing: true, seenMs, untilMs });
  }

  /** Renews every lease: no message could arrive for a while. */
  renewAll(nowMs: number): void {
    for (const [id, follower] of this.followers) {
      this.followers.set(id, { ...follower, expiresAtMs: nowMs + LEASE_MS });
    }
  }

  /**
   * How many resolvers have the revision in force, of all that may be answering somebody: live ones, and missing ones,
   * which never count as applied. Neither does one with another lineage.
   */
  applied(position: Position): Applied {
    const { applied, total } = this.positions.applied(position);
    const isKnown = this.isComplete && !this.isHeld;
    return { applied: isKnown ? applied : 0, total: total + this.missing.size };
  }

  get missingCount(): number {
    return this.missing.size;
  }

  /** Ends all waits with the present counts. Later waits end at once. */
  endWaits(): void {
    this.hasEndedWaits = true;
    this.waits.endFinished();
  }

  /** Waits until every live resolver has the revision in force, at most `timeoutMs`. */
  waitApplied(position: Position, timeoutMs: number): Promise<Applied> {
    return this.waits.wait(position, timeoutMs);
  }

  has(id: string): boolean {
    return this.followers.has(id);
  }

  states(): readonly FollowerState[] {
    return Array.from(this.followers.values(), ({ state }) => state);
  }

  /** All that count: as many as `applied` has in total. */
  resolvers(): readonly KnownResolver[] {
    const live = [...this.followers.values()].filter(({ countedAt }) => countedAt !== null);
    return [...live.map(known), ...this.missing.values()];
  }

  get size(): number {
    return this.followers.size;
  }

  /**
   * A follower that comes under the name of one that died takes its place (decisions §10). Leases are read in any
   * order, so the one that has spoken last is the one that lives.
   * @returns the one that has taken its place already; null: there is none.
   */
  private takePlace(state: FollowerState, seenMs: number): FollowerState | null {
    const { name, inForce, kind } = state;
    if (name === null || inForce === null || kind !== 'resolver') return null;
    let successor: FollowerState | null = null;
    for (const [id, one] of this.missing) if (one.state.name === name) this.missing.delete(id);
    for (const [id, one] of this.followers) {
      if (one.state.name !== name) continue;
      if (one.seenMs > seenMs) successor = one.state;
      else this.followers.set(id, { ...one, successor: state });
    }
    return successor;
  }

  /** The one that has taken its place and has spoken after it; null: there is none. */
  private successorOf(
    { successor }: { successor: FollowerState | null },
    seenMs: number,
  ): FollowerState | null {
    const spokeMs = successor && this.followers.get(successor.id)?.seenMs;
    return (spokeMs ?? -Infinity) > seenMs ? successor : null;
  }

  /** Both count: it lives, although another one came under its name. */
  private reportSharedName({ id, inForce }: FollowerState, successor: FollowerState): void {
    const { name } = successor;
    const isLive = inForce !== null && this.followers.has(successor.id);
    if (isLive && name !== null) this.onSharedName(name, [id, successor.id]);
  }

  private move(before: Position | null, after: Position | null): void {
    if (before !== null) this.positions.remove(before);
    if (after !== null) this.positions.add(after);
  }

  private finished(lineage: string): number {
    if (this.hasEndedWaits) return Infinity;
    return this.isComplete && !this.isHeld ? this.positions.common(lineage) : -1;
  }
}

function known({ state, proven, claimed, seenMs }: LiveFollower): KnownResolver {
  return { state, isWrong: proven === null && claimed === null, isMissing: false, seenMs };
}

/** Whether the resolver has gone on in the same log. One that went back has lost what it said before. */
function isLater({ inForce: now }: FollowerState, before: FollowerState | undefined): boolean {
  const was = before?.inForce ?? null;
  if (now === null || was === null) return false;
  return was.lineage === now.lineage && was.revision <= now.revision;
}

function positionOf(
  { kind, inForce }: FollowerState,
  proven: FollowerState | null,
): Position | null {
  if (kind !== 'resolver' || inForce === null) return null;
  return { lineage: inForce.lineage, revision: proven?.inForce?.revision ?? -1 };
}
