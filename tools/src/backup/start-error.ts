import { StartError } from '@weir/ops';
import pg from 'pg';

/** Turns an error that an operator can fix into one line. Any other error is returned unchanged. */
export function toStartError(doing: string, error: unknown): unknown {
  if (error instanceof StartError)
    return new StartError(`${doing}: ${error.message}`, { cause: error });
  if (error instanceof pg.DatabaseError) {
    const { message, detail } = error;
    const more = detail === undefined ? '' : ` (${detail})`;
    return new StartError(`${doing}: PostgreSQL says: ${message}${more}`, { cause: error });
  }
  const isSystemError = typeof (error as NodeJS.ErrnoException).code === 'string';
  const { message } = error as Error;
  return isSystemError || message.startsWith('Connection terminated')
    ? new StartError(`${doing}: ${message}`, { cause: error })
    : error;
}
