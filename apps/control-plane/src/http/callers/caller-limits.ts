import { ReadMetrics } from '@weir/ops/metrics';
import type { Registry } from 'prom-client';

/** What each token may use of a replica. */
export interface CallLimits {
  /** Calls a second. This many may also come at once after a quiet second. */
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
    const known = this.byToken.get(token);
    const usage = known ?? { inProgress: 0, credit: perSecond, refilledMs: nowMs };
    this.byToken.set(token, usage);
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
}

/** This many failures of a source have no delay: somebody who copies a token may make a mistake. */
const FREE_FAILURES = 10;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
/** A source is forgotten when it has had no failure for this long. */
const FORGET_MS = 600_000;

interface Failures {
  count: number;
  lastMs: number;
}

/** Counts failed attempts by source. When the table is full, the source that failed longest ago is forgotten. */
export class FailedAttempts {
  /** Failures of all sources. */
  total = 0;
  /** The last one failed last. */
  private readonly bySource = new Map<string, Failures>();

  constructor(private readonly maxSources = 10_000) {}

  /** @returns the number of failures of the source in a row, and how long its answer is delayed. */
  add(source: string, nowMs: number): { readonly count: number; readonly delayMs: number } {
    this.total++;
    const known = this.bySource.get(source);
    const count = known && nowMs - known.lastMs < FORGET_MS ? known.count + 1 : 1;
    this.bySource.delete(source);
    this.bySource.set(source, { count, lastMs: nowMs });
    const [oldest] = this.bySource.keys();
    if (oldest !== undefined && this.bySource.size > this.maxSources) this.bySource.delete(oldest);
    return { count, delayMs: delayOf(count) };
  }
}

function delayOf(count: number): number {
  if (count <= FREE_FAILURES) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (count - FREE_FAILURES - 1), LONGEST_DELAY_MS);
}

export function registerCallerMetrics(
  registry: Registry,
  attempts: FailedAttempts,
  tokens: { readonly faults: number },
): void {
  const metrics = new ReadMetrics(registry, 'weir_management_');
  metrics.counter(
    'bad_credentials_total',
    'Requests to the management API with a token that is unknown, has expired, or is not for their source',
    () => attempts.total,
  );
  metrics.counter(
    'tokens_file_faults_total',
    'Checks at which MANAGEMENT_TOKENS_FILE was not usable; the tokens before it stay in force',
    () => tokens.faults,
  );
}
