import { type DestinationStream, type Logger, pino } from 'pino';
import { standardOutput } from './line-output.js';

export type { Logger } from 'pino';

/** Levels of `LOG_LEVEL`, most severe first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Maximum number of bytes that wait while nobody reads the log. */
const CAPACITY_BYTES = 1024 * 1024;

/**
 * The log of a process: one JSON object in each line, with ISO times and the level as a word. By default it goes to
 * standard output. While that is not read, a megabyte of lines waits; further lines are dropped.
 */
export function createLogger(
  options: { name: string; level: LogLevel },
  destination?: DestinationStream,
): Logger {
  const log: Logger = pino(
    {
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      base: { process: options.name },
    },
    destination ??
      toStandardOutput((dropped) => {
        log.warn({ dropped }, 'lines of the log were dropped: standard output was not read');
      }),
  );
  return log;
}

function toStandardOutput(reportDropped: (lines: number) => void): DestinationStream {
  let dropped = 0;
  const report = (): void => {
    reportDropped(dropped);
    dropped = 0;
  };
  return {
    write(line) {
      const output = standardOutput();
      if (output.write(line, CAPACITY_BYTES)) return;
      if (dropped++ === 0) output.onceEmpty(report);
    },
  };
}
