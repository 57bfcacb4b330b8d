/** The logger of both ends of the feed; a pino logger has this shape. */
export interface FeedLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
