import { MISSING_RESOLVER_MS } from '../deployment/deployment.js';
import type { WeirProcess } from '../services/weir-process.js';

/**
 * After this long without a disturbance a resolver has a lease at every replica: a lease plus a heartbeat.
 * Disturbances that follow each other within this time are one.
 */
const STABLE_AFTER_MS = 5_000;

/** When something was disturbed. Times are milliseconds of one monotonic clock. */
class Disturbances {
  private under = 0;
  private beganMs = -Infinity;
  private endedMs = -Infinity;

  constructor(private readonly now: () => number) {}

  /** Notes that a disturbance begins. @returns a function that notes its end. */
  begin(): () => void {
    const nowMs = this.now();
    if (this.isCalmSince(nowMs)) this.beganMs = nowMs;
    this.under++;
    return () => {
      this.under--;
      this.endedMs = this.now();
    };
  }

  /** Whether none is under way, and the last one had ended long enough before this time. */
  isCalmSince(ms: number): boolean {
    return this.under === 0 && ms - this.endedMs > STABLE_AFTER_MS;
  }

  /** The end of the calm that this time belongs to, or that came before it. */
  calmUntilMs(ms: number): number {
    return this.isCalmSince(ms) ? ms : Math.min(this.beganMs, ms);
  }
}

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
  /** A resolver that is up was not in k, and no fault explains it: the machine is too busy, or there is a defect. */
  readonly isLateWhileUndisturbed: boolean;
  /** The resolvers that must have the change. */
  readonly having: readonly number[];
}

export type ProcessTimes = Pick<WeirProcess, 'pausedAtMs' | 'upForMs' | 'aliveForMs'>;

/** Checks the promise of `X-Config-Applied` (decisions §10): who must be in m, who cannot be in k. */
export class CountChecker {
  /** Faults that may cost a resolver its lease: those of Redis, its messages and the feed. */
  readonly leases: Disturbances;
  /** Faults of PostgreSQL. Without the head of the log a replica cannot judge every acknowledgement. */
  readonly database: Disturbances;
  /** When the newest isolation of each resolver began and ended. */
  private readonly isolations: { fromMs: number; toMs: number }[];

  constructor(
    private readonly processes: Readonly<Record<'replicas' | 'resolvers', readonly ProcessTimes[]>>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.leases = new Disturbances(now);
    this.database = new Disturbances(now);
    this.isolations = processes.resolvers.map(() => ({ fromMs: -Infinity, toMs: -Infinity }));
  }

  /** Notes that a resolver is cut off from all but its clients. @returns a function that notes the end of this. */
  isolate(resolver: number): () => void {
    const isolation = { fromMs: this.now(), toMs: Infinity };
    this.isolations[resolver] = isolation;
    return () => {
      isolation.toMs = this.now();
    };
  }

  judge(reply: AppliedReply): Judgement {
    const { applied, total, sentMs } = reply;
    const { resolvers } = this.processes;
    const nowMs = this.now();
    const isUndisturbed = this.leases.isCalmSince(sentMs);
    const stable = [...resolvers.keys()].filter((i) => this.isStable(i, sentMs, nowMs));
    const isEveryoneStable = stable.length === resolvers.length;
    const hasEveryone = isEveryoneStable && applied === resolvers.length;
    const isLate = isEveryoneStable && applied < resolvers.length;
    return {
      violation:
        this.violation(reply, nowMs, isUndisturbed ? stable.length : 0) ??
        (isUndisturbed && isEveryoneStable && total > resolvers.length
          ? `${applied}/${total} while all ${resolvers.length} resolvers were back under their names`
          : null),
      isLateWhileUndisturbed: isLate && isUndisturbed && this.database.isCalmSince(sentMs),
      having: hasEveryone || (isUndisturbed && applied === total) ? stable : [],
    };
  }

  private violation(reply: AppliedReply, nowMs: number, live: number): string | null {
    const { applied, total, sentMs } = reply;
    const { resolvers } = this.processes;
    const said = `${applied}/${total}`;
    if (total >= FORGED) return `${said}, with resolvers that are none`;
    const expected = Math.max(live, this.knownTo(reply, nowMs));
    if (total < expected)
      return `${said} while ${expected} resolvers were live or missing, and may be asked`;
    const unreachable = [...resolvers.keys()].filter((i) => this.isUnreachable(i, sentMs));
    const isSteady = resolvers.every((one) => one.aliveForMs(nowMs) > nowMs - sentMs);
    if (isSteady && applied > resolvers.length - unreachable.length)
      return `${said} while ${unreachable.length} of ${resolvers.length} resolvers were unreachable`;
    return null;
  }

  /** Up and reachable for long enough, so that it was counted. */
  private isStable(resolver: number, sentMs: number, nowMs: number): boolean {
    const upForMs = this.processes.resolvers[resolver].upForMs(nowMs);
    const { toMs } = this.isolations[resolver];
    return upForMs > nowMs - sentMs + STABLE_AFTER_MS && toMs + REACHED_AFTER_MS < sentMs;
  }

  /** Nothing has reached it since before the call, so it cannot have the change; its clients may still ask it. */
  private isUnreachable(resolver: number, sentMs: number): boolean {
    const { fromMs, toMs } = this.isolations[resolver];
    const isolatedAtMs = toMs === Infinity ? fromMs : Infinity;
    const pausedAtMs = this.processes.resolvers[resolver].pausedAtMs ?? Infinity;
    return Math.min(isolatedAtMs, pausedAtMs) < sentMs;
  }

  /**
   * How many resolvers the replica that answered must know. One that has just started learns from Redis who is missing,
   * but Redis may have lost that in a disturbance.
   */
  private knownTo({ replica, sentMs }: AppliedReply, nowMs: number): number {
    const isolatedMs = this.isolations
      .filter(({ toMs }) => toMs + REACHED_AFTER_MS > sentMs)
      .map(({ fromMs }) => fromMs);
    const calmMs = Math.min(this.leases.calmUntilMs(sentMs), ...isolatedMs);
    if (nowMs - calmMs > COUNTED_MS) return 0;
    const isKnown = (process: ProcessTimes): boolean =>
      process.aliveForMs(nowMs) > nowMs - calmMs + STABLE_AFTER_MS;
    const isCalm = this.leases.isCalmSince(sentMs);
    if (!isCalm && !isKnown(this.processes.replicas[replica])) return 0;
    return this.processes.resolvers.filter(isKnown).length;
  }
}
