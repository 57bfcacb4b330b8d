/** What each token may use of a replica. */
export interface CallLimits {
  /** Calls a second. So many may also come at once after a quiet second. */
  readonly perSecond: number;
  /** Calls in progress. */
  readonly atOnce: number;
}

interface Usage {
  inProgress: number;
  /** Calls that may begin now; refilled with time. */
  credit: number;
  refilledMs: number;
}

/** Counts the calls of each token. There are as many entries as tokens. */
export class CallCounter {
  private readonly byToken = new Map<string, Usage>();

  constructor(private readonly limits: CallLimits) {}

  /** Begins a call unless that is beyond the limits. Each call that has begun must end. */
  begin(token: string, nowMs: number): boolean {
    const { perSecond, atOnce } = this.limits;
    const usage = this.usageOf(token, nowMs);
    const refill = (Math.max(nowMs - usage.refilledMs, 0) * perSecond) / 1000;
    usage.credit = Math.min(usage.credit + refill, perSecond);
    usage.refilledMs = nowMs;
    if (usage.credit < 1 || usage.inProgress >= atOnce) return false;
    usage.credit--;
    usage.inProgress++;
    return true;
  }

  end(token: string): void {
    const usage = this.byToken.get(token);
    if (usage !== undefined) usage.inProgress--;
  }

  private usageOf(token: string, nowMs: number): Usage {
    const known = this.byToken.get(token);
    if (known !== undefined) return known;
    const usage = { inProgress: 0, credit: this.limits.perSecond, refilledMs: nowMs };
    this.byToken.set(token, usage);
    return usage;
  }
}
