/** One defect may cause thousands of violations. */
const PRINTED_VIOLATIONS = 20;

/** Counters and violations of one run. */
export class RunStats {
  readonly counts = {
    acknowledged: 0,
    /** Of `acknowledged`: `POST /init/`. */
    replacements: 0,
    inForceEverywhere: 0,
    /** k was less than m: a resolver was late, or missing. */
    lateResolvers: 0,
    /** Of `lateResolvers`: a resolver that was up, without a fault in the seconds before, see `Judgement`. */
    lateWhileUndisturbed: 0,
    countedOnNone: 0,
    refused: 0,
    unknown: 0,
    foundApplied: 0,
    queries: 0,
    queriesAfterAcknowledgement: 0,
    /** Of a resolver that was not ready yet, and gave an answer. */
    queriesWhileStarting: 0,
    queryRetries: 0,
    queriesInconclusive: 0,
  };
  readonly faults = new Map<string, number>();
  readonly violations: string[] = [];
  /** Milliseconds from the first request to the 2xx, for changes that were in force on all resolvers. */
  readonly latenciesMs: number[] = [];
  private readonly startedMs = performance.now();

  /** @param onViolation is called for the first violations, at once */
  constructor(private readonly onViolation: (text: string) => void) {}

  fault(kind: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  /** Notes a broken promise. A run with a violation has failed. */
  violation(text: string): void {
    const line = `${this.seconds(performance.now())} s: ${text}`;
    this.violations.push(line);
    if (this.violations.length <= PRINTED_VIOLATIONS) this.onViolation(line);
  }

  /** @param ms of `performance.now`. @returns seconds since the start of the run. */
  seconds(ms: number): string {
    return ((ms - this.startedMs) / 1000).toFixed(1);
  }
}
