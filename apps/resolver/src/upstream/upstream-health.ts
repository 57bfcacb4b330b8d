/** After this many failed probes in a row, an upstream is down. */
const FAILURES_UNTIL_DOWN = 3;
/** Time between two probes while the upstream is down. */
const DOWN_MS = 2_000;
/** An upstream that has not answered anything for this long is probed. */
const IDLE_MS = 5_000;

/**
 * Whether an upstream is up. Only probes decide, which are queries of our own. Subscribers choose the names of all
 * other queries, so a query without an answer may be the fault of its name: it is no more than a reason to probe. Any
 * answer proves that the upstream is up. Times are milliseconds on one clock, passed in by the caller.
 */
export class UpstreamHealth {
  /** Failed probes since the last answer. */
  private failures = 0;
  /** Whether the last probe waits for its answer. */
  hasOpenProbe = false;
  /** No probe is sent before this time. */
  private nextProbeMs = 0;
  private answeredMs = -Infinity;
  /** Time of the first query since the last answer. */
  private silentSinceMs = Infinity;

  /**
   * @param silenceMs a probe follows when queries are without any answer for this long; also the time that an answer to
   * a probe may take
   */
  constructor(private readonly silenceMs: number) {}

  /** Whether it has not answered the last probes, or could not be reached three times in a row. */
  get isDown(): boolean {
    return this.failures >= FAILURES_UNTIL_DOWN;
  }

  /** Whether it has answered since the last failed probe. */
  get isSound(): boolean {
    return this.failures === 0;
  }

  /** Whether it has answered anything since that time. */
  hasAnsweredSince(timeMs: number): boolean {
    return this.answeredMs > timeMs;
  }

  /** A query of a client is being sent. */
  recordQuery(nowMs: number): void {
    if (this.silentSinceMs === Infinity) this.silentSinceMs = nowMs;
  }

  /** The upstream has answered a query or a probe, whatever the answer says. */
  recordAnswer(nowMs: number): void {
    this.failures = 0;
    this.hasOpenProbe = false;
    this.answeredMs = nowMs;
    this.silentSinceMs = Infinity;
  }

  /** The network says that the upstream cannot be reached: it counts as a failed probe. */
  recordUnreachable(): void {
    this.failures++;
    this.hasOpenProbe = false;
  }

  /** Called regularly. A probe without an answer counts as failed. @returns whether to send a probe now */
  isProbeDue(nowMs: number): boolean {
    if (nowMs < this.nextProbeMs) return false;
    if (this.hasOpenProbe) this.failures++;
    this.hasOpenProbe =
      !this.isSound ||
      nowMs - this.silentSinceMs >= this.silenceMs ||
      nowMs - this.answeredMs >= IDLE_MS;
    if (this.hasOpenProbe) this.nextProbeMs = nowMs + (this.isDown ? DOWN_MS : this.silenceMs);
    return this.hasOpenProbe;
  }
}
