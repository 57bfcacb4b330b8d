/** Codes that say that the database could not be asked, or that it ended the conversation before the commit. */
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
  // of PostgreSQL: class 08, shutdown, crash, start-up, too many connections, read-only standby
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
  // of Prisma: not reachable, timed out, closed, no connection free, no transaction begun in time
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
]);

/** Kinds of failures of Prisma's driver adapter that say the same. */
const UNREACHABLE_KINDS = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
]);

/** What `pg` says without a code. */
const UNREACHABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

const DEEPEST_CAUSE = 8;

/** Whether an error comes of the database being out of reach, rather than of what it was asked. */
export function isDatabaseUnreachable(error: unknown): boolean {
  let current = error;
  for (
    let depth = 0;
    depth < DEEPEST_CAUSE && current !== null && typeof current === 'object';
    depth++
  ) {
    const { code, originalCode, kind, message, cause, errors } = current as Record<string, unknown>;
    if (typeof kind === 'string' && UNREACHABLE_KINDS.has(kind)) return true;
    if ([code, originalCode].some((one) => typeof one === 'string' && UNREACHABLE.has(one))) {
      return true;
    }
    if (typeof message === 'string' && UNREACHABLE_MESSAGE.test(message)) return true;
    // Node tries several addresses and reports them together.
    if (Array.isArray(errors) && errors.some(isDatabaseUnreachable)) return true;
    current = cause;
  }
  return false;
}
