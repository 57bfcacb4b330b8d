/**
 * Codes that say that the database could not be asked, could not do it now, or ended the conversation before the
 * commit.
 */
const UNREACHABLE = new Set([
  // of the operating system
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
  // the time limits of its operator, and ours: of a statement, a lock, a pause in a transaction, a session
  '57014',
  '55P03',
  '25P03',
  '57P05',
  // in the way of another transaction
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

/** Kinds of failures of Prisma's driver adapter that say the same. */
const UNREACHABLE_KINDS = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);

/** What `pg` says without a code. */
const UNREACHABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

const DEEPEST_CAUSE = 8;

type Fields = Readonly<Record<string, unknown>>;

/** Whether an error comes of the state that the database is in, rather than of what it was asked. */
export function isDatabaseUnreachable(error: unknown): boolean {
  let current = error;
  for (
    let depth = 0;
    depth < DEEPEST_CAUSE && current !== null && typeof current === 'object';
    depth++
  ) {
    const { code, originalCode, kind, message, cause, errors, meta } = current as Fields;
    if (typeof kind === 'string' && UNREACHABLE_KINDS.has(kind)) return true;
    if ([code, originalCode].some((one) => typeof one === 'string' && UNREACHABLE.has(one))) {
      return true;
    }
    if (typeof message === 'string' && UNREACHABLE_MESSAGE.test(message)) return true;
    // Node tries several addresses and reports them together.
    if (Array.isArray(errors) && errors.some(isDatabaseUnreachable)) return true;
    // Prisma keeps what its driver said beside the chain of causes.
    current = cause ?? (meta as Fields | undefined)?.['driverAdapterError'];
  }
  return false;
}

/** `undefined_table`. */
const NO_SUCH_TABLE = '42P01';

/** Why a database cannot be used, in plain words. They repeat nothing of what it said: no statement, no host. */
export function databaseTrouble(error: unknown): string {
  if ((error as Fields | null)?.['code'] === NO_SUCH_TABLE) return 'the database is not migrated';
  if (isDatabaseUnreachable(error)) return 'PostgreSQL is out of reach';
  return 'PostgreSQL cannot be used; the log says why';
}
