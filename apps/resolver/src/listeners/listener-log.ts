/** Where listeners log what an operator should know. */
export interface ListenerLog {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
}
