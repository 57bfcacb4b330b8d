import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Levels of `LOG_LEVEL`, most severe first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The log of a process: one JSON object in each line, with ISO times and the level as a word. By default it goes to
 * standard output and is written synchronously, so that the last line before a crash is not lost.
 */
export function createLogger(
  options: { name: string; level: LogLevel },
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger {
  return pino(
    {
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      base: { process: options.name },
    },
    destination,
  );
}
