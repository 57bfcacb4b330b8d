/** Minimum time between two reports of the same problem. */
const INTERVAL_MS = 10_000;

/** Calls `report` at most once per interval, so that a client that causes many errors cannot fill the disk. */
export function throttled<T>(
  report: (problem: T) => void,
  nowMs: () => number = () => performance.now(),
): (problem: T) => void {
  let quietUntilMs = 0;
  return (problem) => {
    if (nowMs() < quietUntilMs) return;
    quietUntilMs = nowMs() + INTERVAL_MS;
    report(problem);
  };
}
