/** One defect shows thousands of times. */
const PRINTED_VIOLATIONS = 20;

/** What a run counted, and what it found wrong. */
export class Tally {
  readonly counts = {
    acknowledged: 0,
    /** Of them, of the whole configuration. */
    replacements: 0,
    inForceEverywhere: 0,
    lateResolvers: 0,
    /** Of them, while nothing had been disturbed for seconds: a machine that is too busy, or worse. */
    lateInCalm: 0,
    countedOnNobody: 0,
    refused: 0,
    unknown: 0,
    foundDone: 0,
    foundDoneAfter503: 0,
    queries: 0,
    queriesAfterAcknowledgement: 0,
    queryRetries: 0,
    queriesSetAside: 0,
  };
  readonly faults = new Map<string, number>();
  readonly violations: string[] = [];
  /** Milliseconds from request to 2xx of changes that were in force everywhere. */
  readonly latenciesMs: number[] = [];
  private readonly startedMs = performance.now();

  /** Told the first violations as they are found. */
  constructor(private readonly onViolation: (text: string) => void) {}

  fault(kind: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  /** Notes what must not be; a run with any of it has failed. */
  violation(text: string): void {
    const seconds = ((performance.now() - this.startedMs) / 1000).toFixed(1);
    const line = `${seconds} s: ${text}`;
    this.violations.push(line);
    if (this.violations.length <= PRINTED_VIOLATIONS) this.onViolation(line);
  }
}
