import type { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest that the answer to a change waits to learn whether it stands. */
const DEADLINE_MS = 15_000;
const RETRY_MS = 100;
/** A transaction whose client is gone for so long is not going to be committed any more. */
const GRACE_MS = 1_000;

const STATUS = 'SELECT pg_xact_status($1::xid8) AS status';

/** After a crash another transaction may have got the number; only its own logged this change. */
const IS_LOGGED = `
  SELECT EXISTS (
    SELECT FROM change
    WHERE revision = $1::bigint AND (extract(epoch FROM created_at) * 1000)::bigint = $2::bigint
  ) AS logged`;

/** PostgreSQL's code for a transaction that it has not come to: `invalid_parameter_value`. */
const IN_THE_FUTURE = '22023';

/** Ends the session that the lost connection left behind, so that its transaction comes to an end. */
const END_SESSION =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid';

/** The connection was lost during a COMMIT, and the database did not say in time whether it took effect. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError';

  constructor() {
    super('the database did not say whether the transaction was committed');
  }
}

/** What a transaction is known by when the answer to its COMMIT is lost. */
export interface TransactionMark {
  /** PostgreSQL's number; after a crash another transaction may get it. */
  readonly number: string;
  /** The first revision that it may log. */
  readonly revision: number;
  /** When it began, in milliseconds since 1970: `created_at` of what it logs. */
  readonly beganMs: number;
}

/**
 * Runs a transaction to its end. One that fails when its COMMIT is on its way may stand all the same: the COMMIT may
 * have got through, and the answer been lost. Then the database is asked.
 * @param run calls `committing` with its outcome before its COMMIT is sent.
 * @param deadlineMs longest that the database is asked.
 * @throws what `run` throws, when nothing stands; CommitUnknownError when the database does not tell.
 */
export async function settled<O>(
  pool: Pool,
  run: (committing: (outcome: O, mark: TransactionMark) => void) => Promise<O>,
  deadlineMs = DEADLINE_MS,
): Promise<O> {
  const sent: { outcome: O; mark: TransactionMark }[] = [];
  try {
    return await run((outcome, mark) => {
      sent.push({ outcome, mark });
    });
  } catch (error) {
    const [last] = sent;
    if (last !== undefined && (await isCommitted(pool, last.mark, deadlineMs))) return last.outcome;
    throw error;
  }
}

/**
 * Whether a transaction stands whose COMMIT was sent and never answered.
 * @throws CommitUnknownError when the database cannot be asked in time.
 */
async function isCommitted(
  pool: Pool,
  mark: TransactionMark,
  deadlineMs: number,
): Promise<boolean> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < deadlineMs) {
    const status = await ask(pool, mark);
    if (status === 'aborted') return false;
    const logged = status === 'committed' ? await isLogged(pool, mark) : null;
    if (logged !== null) return logged;
    if (status === 'in progress' && performance.now() - startedMs > GRACE_MS) {
      // Then it ends by itself, sooner or later.
      await pool.query(END_SESSION, [mark.number]).catch(() => undefined);
    }
    await sleep(RETRY_MS);
  }
  throw new CommitUnknownError();
}

/**
 * @returns null when the database does not tell, for whatever reason: no other error may stand for a change that
 * perhaps stands.
 */
async function ask(pool: Pool, { number }: TransactionMark): Promise<string | null> {
  try {
    const { rows } = await pool.query<{ status: string | null }>(STATUS, [number]);
    return rows[0]?.status ?? null;
  } catch (error) {
    // After a crash, or on a standby that had not got so far. It must not be asked again, for soon another transaction
    // has that number.
    return (error as { code?: unknown }).code === IN_THE_FUTURE ? 'aborted' : null;
  }
}

/** @returns null when the database does not tell. */
async function isLogged(
  pool: Pool,
  { revision, beganMs }: TransactionMark,
): Promise<boolean | null> {
  try {
    const { rows } = await pool.query<{ logged: boolean }>(IS_LOGGED, [revision, beganMs]);
    return rows[0]?.logged ?? null;
  } catch {
    return null;
  }
}
