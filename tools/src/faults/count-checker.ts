import type { Deployment } from '../deployment/deployment.js';
import { MISSING_RESOLVER_MS } from '../deployment/deployment.js';
import type { WeirProcess } from '../deployment/weir-process.js';

/** After this long without a disturbance a resolver has a lease at every replica: a lease plus a heartbeat. */
const STABLE_AFTER_MS = 5_000;
/** A resolver that was isolated may wait for as long until the feed gives up its connection. */
const REACHED_AFTER_MS = 12_000;
/** A missing resolver counts for so long after its lease has ended, less what a busy machine may add. */
const COUNTED_MS = MISSING_RESOLVER_MS - 5_000;

/** As many resolvers as this are forged ones: no run has so many, not even with those that were restarted. */
const FORGED = 100;

/** "k/m" of `X-Config-Applied`. */
export interface AppliedReply {
  readonly applied: number;
  readonly total: number;
  readonly sentMs: number;
  /** The replica that answered. */
  readonly replica: number;
}

export interface Judgement {
  /** What is wrong about k or m. */
  readonly violation: string | null;
  readonly isLateWhileUndisturbed: boolean;
  /** The resolvers that must have the change. */
  readonly having: readonly number[];
}

/** Checks the promise of `X-Config-Applied` (decisions §10): who must be in m, who cannot be in k. */
export class CountChecker {
  /** Active faults that may cost a resolver its lease: those of Redis, its messages and the feed. */
  private disturbances = 0;
  private disturbedSinceMs = 0;
  private disturbedAtMs = 0;
  /** When the isolation of each resolver began and ended. */
  private readonly isolations: { fromMs: number; toMs: number }[];

  constructor(private readonly deployment: Deployment) {
    this.isolations = deployment.resolvers.map(() => ({ fromMs: 0, toMs: 0 }));
  }

  disturb(): () => void {
    // Disturbances that follow each other closely are one.
    const nowMs = performance.now();
    if (this.disturbances === 0 && nowMs - this.disturbedAtMs > STABLE_AFTER_MS)
      this.disturbedSinceMs = nowMs;
    this.disturbances++;
    return () => {
      this.disturbances--;
      this.disturbedAtMs = performance.now();
    };
  }

  isolate(resolver: number): () => void {
    const isolation = { fromMs: performance.now(), toMs: Infinity };
    this.isolations[resolver] = isolation;
    return () => {
      isolation.toMs = performance.now();
    };
  }

  judge(reply: AppliedReply, nowMs: number): Judgement {
    const { applied, total, sentMs } = reply;
    const { resolvers } = this.deployment;
    const isUndisturbed = this.disturbances === 0 && sentMs - this.disturbedAtMs > STABLE_AFTER_MS;
    const stable = [...resolvers.keys()].filter((i) => this.isStable(i, sentMs, nowMs));
    const isEveryoneStable = stable.length === resolvers.length;
    const isCertain = isUndisturbed
      ? applied === total
      : isEveryoneStable && applied === resolvers.length;
    return {
      violation: this.violation(reply, nowMs, isUndisturbed ? stable.length : 0),
      isLateWhileUndisturbed: isUndisturbed && isEveryoneStable && applied < total,
      having: isCertain ? stable : [],
    };
  }

  private violation(reply: AppliedReply, nowMs: number, live: number): string | null {
    const { applied, total, sentMs } = reply;
    const { resolvers } = this.deployment;
    const said = `${applied}/${total}`;
    if (total >= FORGED) return `${said}, with resolvers that are none`;
    const expected = Math.max(live, this.knownTo(reply, nowMs));
    if (total < expected)
      return `${said} while ${expected} resolvers were live or missing, and may be asked`;
    const deaf = [...resolvers.keys()].filter((i) => this.isDeaf(i, sentMs));
    const isSteady = resolvers.every((one) => one.aliveForMs(nowMs) > nowMs - sentMs);
    if (isSteady && applied > resolvers.length - deaf.length)
      return `${said} while ${deaf.length} of ${resolvers.length} resolvers heard nothing`;
    return null;
  }

  /** Up and reachable for long enough, so that it was counted. */
  private isStable(resolver: number, sentMs: number, nowMs: number): boolean {
    const process = this.process(resolver);
    const toMs = this.isolations[resolver]?.toMs ?? 0;
    return (
      process.upForMs(nowMs) > nowMs - sentMs + STABLE_AFTER_MS && toMs + REACHED_AFTER_MS < sentMs
    );
  }

  /** Hears nothing since before the call, so it cannot have the change; its clients may still ask it. */
  private isDeaf(resolver: number, sentMs: number): boolean {
    const isolation = this.isolations[resolver];
    const isolatedAtMs = isolation?.toMs === Infinity ? isolation.fromMs : Infinity;
    const pausedAtMs = this.process(resolver).pausedAtMs ?? Infinity;
    return Math.min(isolatedAtMs, pausedAtMs) < sentMs;
  }

  /**
   * How many resolvers the replica that answered must know. One that has just started learns from Redis who is missing,
   * but Redis may have lost that in a disturbance.
   */
  private knownTo({ replica, sentMs }: AppliedReply, nowMs: number): number {
    const isDisturbed = this.disturbances > 0 || sentMs - this.disturbedAtMs < STABLE_AFTER_MS;
    const isolatedMs = this.isolations
      .filter(({ toMs }) => toMs + REACHED_AFTER_MS > sentMs)
      .map(({ fromMs }) => fromMs);
    const calmMs = Math.min(isDisturbed ? this.disturbedSinceMs : sentMs, sentMs, ...isolatedMs);
    if (nowMs - calmMs > COUNTED_MS) return 0;
    const isKnown = (process: WeirProcess | undefined): boolean =>
      (process?.aliveForMs(nowMs) ?? 0) > nowMs - calmMs + STABLE_AFTER_MS;
    if (isDisturbed && !isKnown(this.deployment.replicas[replica])) return 0;
    return this.deployment.resolvers.filter(isKnown).length;
  }

  private process(resolver: number): WeirProcess {
    const process = this.deployment.resolvers[resolver];
    if (process === undefined) throw new RangeError('no such resolver');
    return process;
  }
}
