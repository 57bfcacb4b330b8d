import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { withTimeout } from './with-timeout.js';

/** Longest time to find out whether a transaction was committed. */
const DEADLINE_MS = 3_000;
const RETRY_MS = 100;
/** Time after which the session of a transaction in progress is ended: its client is gone and will not commit it. */
const GRACE_MS = 1_000;

const STATUS = 'SELECT pg_xact_status($1::xid8) AS status';

/** After a crash, another transaction may get the same id. Only ours logged this change at this time. */
const IS_LOGGED = `
  SELECT EXISTS (
    SELECT FROM change
    WHERE revision = $1::bigint AND (extract(epoch FROM created_at) * 1000)::bigint = $2::bigint
  ) AS logged`;

/** `invalid_parameter_value`: PostgreSQL has not assigned this transaction id yet. */
const ID_IN_THE_FUTURE = '22023';

/**
 * Ends the session that the lost connection left behind, which ends its transaction. A COMMIT that waits for a
 * synchronous standby must go on: PostgreSQL would show it as committed while no standby has it.
 */
const END_SESSION = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid AND wait_event = 'ClientRead'`;

/** The connection was lost during a COMMIT, and the database did not say in time whether it took effect. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError';

  constructor() {
    super('the database did not say whether the transaction was committed');
  }
}

/** Identifies a transaction when the answer to its COMMIT is lost. */
export interface TransactionIdentity {
  /** PostgreSQL's transaction id (`xid8`). After a crash, another transaction may get it. */
  readonly id: string;
  /** The first revision that the transaction logs. */
  readonly revision: number;
  /** When it began, in milliseconds since 1970: `created_at` of the changes that it logs. */
  readonly beganMs: number;
}

/**
 * Runs a transaction. When it fails after its COMMIT was sent, the COMMIT may still have taken effect, with only its
 * answer lost. Then the database is asked.
 * @param run calls `beforeCommit` with its outcome before it sends the COMMIT.
 * @param waitMs longest time to ask the database, if it is shorter than three seconds.
 * @throws what `run` throws, when nothing was committed; CommitUnknownError when the database does not answer in time.
 */
export async function confirmCommit<O>(
  pool: Pool,
  run: (beforeCommit: (outcome: O, transaction: TransactionIdentity) => void) => Promise<O>,
  waitMs = DEADLINE_MS,
): Promise<O> {
  const sent: { outcome: O; transaction: TransactionIdentity }[] = [];
  try {
    return await run((outcome, transaction) => {
      sent.push({ outcome, transaction });
    });
  } catch (error) {
    const [first] = sent;
    if (first === undefined) throw error;
    const deadlineMs = Math.min(waitMs, DEADLINE_MS);
    // A database that hangs may not answer any of the questions in time.
    const asked = ask(pool, first.transaction, deadlineMs);
    const isCommitted = await withTimeout(asked, null, deadlineMs);
    if (isCommitted === null) throw new CommitUnknownError();
    if (isCommitted) return first.outcome;
    throw error;
  }
}

/** @returns whether it was committed; null when the database does not answer in time. */
async function ask(
  pool: Pool,
  transaction: TransactionIdentity,
  deadlineMs: number,
): Promise<boolean | null> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < deadlineMs) {
    const status = await readStatus(pool, transaction);
    if (status === 'aborted') return false;
    const logged = status === 'committed' ? await isLogged(pool, transaction) : null;
    if (logged !== null) return logged;
    if (status === 'in progress' && performance.now() - startedMs > GRACE_MS) {
      // When this fails, the transaction ends by itself, sooner or later.
      await pool.query(END_SESSION, [transaction.id]).catch(() => undefined);
    }
    await sleep(RETRY_MS);
  }
  return null;
}

/** @returns null when the database does not answer. An error would claim that nothing was committed. */
async function readStatus(pool: Pool, { id }: TransactionIdentity): Promise<string | null> {
  try {
    const { rows } = await pool.query<{ status: string | null }>(STATUS, [id]);
    return rows[0]?.status ?? null;
  } catch (error) {
    // After a crash or a failover that lost it. It must not be asked for again: another one will soon have this id.
    return (error as { code?: unknown }).code === ID_IN_THE_FUTURE ? 'aborted' : null;
  }
}

/** @returns null when the database does not answer. */
async function isLogged(
  pool: Pool,
  { revision, beganMs }: TransactionIdentity,
): Promise<boolean | null> {
  try {
    const { rows } = await pool.query<{ logged: boolean }>(IS_LOGGED, [revision, beganMs]);
    return rows[0]?.logged ?? null;
  } catch {
    return null;
  }
}
