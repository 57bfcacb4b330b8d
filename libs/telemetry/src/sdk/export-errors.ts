import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import type { Logger } from '@weir/ops';

const LOG_INTERVAL_MS = 60_000;
const MAX_REASON_LENGTH = 200;

/**
 * Logs what OpenTelemetry reports, a line a minute: a collector may be away for days.
 * @returns logs another error in the same way.
 */
export function logExportErrors(
  log: Pick<Logger, 'warn'>,
  nowMs: () => number = () => performance.now(),
): (reason: unknown) => void {
  let loggedMs = -Infinity;
  let count = 0;
  const report = (reason: unknown): void => {
    count++;
    if (nowMs() - loggedMs < LOG_INTERVAL_MS) return;
    loggedMs = nowMs();
    log.warn(
      { reason: toText(reason), count },
      'traces or metrics could not be sent; this changes nothing else',
    );
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(report);
  return report;
}

/** The message only: a response of the collector may have anything in it. */
function toText(reason: unknown): string {
  const text = reason instanceof Error ? reason.message || reason.name : String(reason);
  return text.slice(0, MAX_REASON_LENGTH);
}
