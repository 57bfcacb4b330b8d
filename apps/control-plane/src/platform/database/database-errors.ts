import { CommitUnknownError } from './commit-outcome.js';

/** This process must not work with this database. The message is for the operator. */
export class DatabaseMismatchError extends Error {
  override readonly name = 'DatabaseMismatchError';
}

/** PostgreSQL refuses the role or its password, as while that is replaced, or the database is absent. */
const REFUSED: ReadonlySet<unknown> = new Set(['28000', '28P01', '3D000']);

/** Codes of errors of a database that is unreachable, cannot do it now, or closed the connection before the commit. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  // errors of the operating system
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // of PostgreSQL: class 08, shutdown, crash, start-up, read-only standby
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57P01',
  '57P02',
  '57P03',
  '25006',
  // class 53: disk full, out of memory, too many connections, and the like
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  ...REFUSED,
  // timeouts, set by the operator or by us: of a statement, a lock, an idle or a whole transaction, a session
  '57014',
  '55P03',
  '25P03',
  '25P04',
  '57P05',
  // serialization failure, deadlock
  '40001',
  '40P01',
  // of Prisma: not reachable, timed out, closed, no connection free, no transaction begun in time
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
]);

/** Kinds of errors of Prisma's driver adapter with the same meaning. */
const UNREACHABLE_KINDS: ReadonlySet<unknown> = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);

/** Messages of `pg` errors that have no code. */
const UNREACHABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|encountered a connection error/;

/** Messages of `pg`: no connection was free in time, or PostgreSQL did not accept one in time. */
const CONNECT_TIMEOUTS = new Set([
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
]);

const DEEPEST_CAUSE = 8;

type Fields = Readonly<Record<string, unknown>>;

/** Whether an error is caused by the state of the database or the network, and not by the query. */
export function isDatabaseUnreachable(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE; depth++) {
    if (current === null || typeof current !== 'object') return false;
    const { code, originalCode, kind, message, cause, errors, meta } = current as Fields;
    if (UNREACHABLE_KINDS.has(kind)) return true;
    if (UNREACHABLE.has(code) || UNREACHABLE.has(originalCode)) return true;
    if (typeof message === 'string' && UNREACHABLE_MESSAGE.test(message)) return true;
    // Node tries several addresses and reports them together.
    if (Array.isArray(errors) && errors.some(isDatabaseUnreachable)) return true;
    // Prisma keeps its driver's error outside of the chain of causes.
    current = cause ?? (meta as Fields | undefined)?.['driverAdapterError'];
  }
  return false;
}

/** Why PostgreSQL cannot be used, and the code that the operating system or PostgreSQL would give. */
const FAULTS = {
  /** It keeps the connection open, but does not answer. */
  silent: ['PostgreSQL does not answer', 'ETIMEDOUT'],
  /** It answers, but this connection does not lead to it any more. */
  lost: ['the connection to PostgreSQL was lost', 'ECONNRESET'],
  /** It may lack changes, and not know of a COMMIT. */
  standby: ['this PostgreSQL is a standby', '25006'],
  /** Its changes take too long for those behind them, in this process or in others. */
  busy: ['the changes before it took too long', '55P03'],
} as const;

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: string;

  constructor(fault: keyof typeof FAULTS) {
    const [message, code] = FAULTS[fault];
    super(message);
    this.code = code;
  }
}

/** Whether PostgreSQL was waited for in vain, so that another try would wait as long. */
export function isSilence(error: unknown): boolean {
  if (error instanceof CommitUnknownError) return true;
  // An error of a thread has lost its class.
  const { code, message } = error as Partial<Record<'code' | 'message', unknown>>;
  return code === 'ETIMEDOUT' || CONNECT_TIMEOUTS.has(String(message));
}

/** Whether an error of `pg` says that a statement took too long: for a lock, or for `statement_timeout`. */
export function isStatementTimeout(error: unknown): boolean {
  return isLockTimeout(error) || (error as Fields | null)?.['code'] === '57014';
}

/** Whether changes were waited for in vain, by the queue or by PostgreSQL: `lock_not_available`. */
export function isLockTimeout(error: unknown): boolean {
  return (error as Fields | null)?.['code'] === '55P03';
}

/** `undefined_table`. */
export const UNDEFINED_TABLE = '42P01';

/** Why the database cannot be used, for /readyz. The error itself may name hosts or statements. */
export function describeDatabaseError(error: unknown): string {
  const code = (error as Fields | null)?.['code'];
  if (code === UNDEFINED_TABLE) return 'the database is not migrated';
  if (!REFUSED.has(code) && isDatabaseUnreachable(error)) return 'PostgreSQL is out of reach';
  return 'PostgreSQL cannot be used; the log says why';
}
