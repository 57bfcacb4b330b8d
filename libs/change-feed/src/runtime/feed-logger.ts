/** What the two ends need of a logger; a pino logger is one. */
export interface FeedLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
