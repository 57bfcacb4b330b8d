import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from 'pg';
import { rowsTo } from './copy.js';
import { DatabaseError } from './database-errors.js';
import { withTimeout } from './with-timeout.js';

/** After this time, a database that does not accept the connection counts as unreachable. */
const CONNECT_TIMEOUT_MS = 5_000;
/** TCP keepalive: load balancers and firewalls drop connections that are idle for long. */
const KEEP_ALIVE_MS = 30_000;

/** Of every connection to PostgreSQL. */
export function connectionSettings(connectionString: string): pg.ClientConfig {
  return {
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'weir-control-plane',
  };
}

/** A session. A number alone is not enough: another server, or this one after a restart, may use it again. */
const SESSION = "pid || ' ' || extract(epoch FROM backend_start)";
/**
 * The first statement of every connection; it gives the session. PostgreSQL ends a session, and its transaction, when
 * the host of its client has acknowledged no packet for ten seconds, or its client has closed the connection, even if
 * a statement waits for a lock. None of its other timeouts applies in the middle of a statement or of a COPY. Times
 * and numbers come in one form, a transaction that has waited for the head sees the changes before it, and a COMMIT
 * returns when it is on PostgreSQL's disk, whatever the database or the role has set.
 */
const BEGIN_SESSION = `
  SELECT ${SESSION} AS session, pg_is_in_recovery() AS "isStandby", set_config('tcp_keepalives_idle', '5', false),
    set_config('tcp_keepalives_interval', '1', false), set_config('tcp_keepalives_count', '5', false),
    set_config('tcp_user_timeout', '10000', false),
    set_config('client_connection_check_interval', '5000', false), set_config('TimeZone', 'UTC', false),
    set_config('DateStyle', 'ISO', false), set_config('extra_float_digits', '1', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit',
      replace(current_setting('synchronous_commit'), 'off', 'local'), false)
  FROM pg_stat_get_activity(pg_backend_pid())`;

export function streamOf({ connection }: Client): Socket {
  return connection.stream as Socket;
}

/** Whether PostgreSQL has waited for a statement, or for the rest of one, for longer than a packet takes. */
const WAITS_FOR_CLIENT = `
  wait_event = 'ClientRead' AND state_change < clock_timestamp() - interval '1 second'`;
/** One row when there is the session. If PostgreSQL waits for its client, it is ended, and gone when this returns. */
const END_IF_WAITING = `
  SELECT CASE WHEN ${WAITS_FOR_CLIENT} THEN pg_terminate_backend(pid, 1000) ELSE false END AS ended
  FROM pg_stat_activity WHERE usename = session_user AND ${SESSION} = $1`;

/** After this time, a database that does not answer on a new connection counts as silent. */
const ANSWER_TIMEOUT_MS = 2_500;

/**
 * Asks about a session on a new connection: an existing one may itself be the one that is lost. If PostgreSQL waits for
 * the client of the session, it is ended.
 * @param waits whether the client waits too, asked when PostgreSQL has accepted the connection.
 * @returns whether it has ended, now or before. Null: PostgreSQL does not answer; an error is an answer.
 */
export async function endIfWaiting(
  settings: pg.ClientConfig,
  session: string,
  waits: () => boolean = () => true,
): Promise<boolean | null> {
  const client = new pg.Client(settings);
  // It may break after its answer.
  client.on('error', () => undefined);
  const ask = async (): Promise<boolean> => {
    await client.connect();
    // When this process was held up, there may be bytes that it has not read yet.
    await nextTurn();
    if (!waits()) return false;
    const { rows } = await client.query<{ ended: boolean }>(END_IF_WAITING, [session]);
    return rows.every(({ ended }) => ended);
  };
  const asked = ask().catch((error: unknown) => (error instanceof pg.DatabaseError ? false : null));
  const answer = await withTimeout(asked, null, ANSWER_TIMEOUT_MS);
  if (answer === null) streamOf(client).destroy();
  else client.end().catch(() => undefined);
  return answer;
}

type Ask = (session: string, waits: () => boolean) => Promise<boolean | null>;

/**
 * Asks as `endIfWaiting`, about one session at a time: a PostgreSQL that is slow gets no flood of connections. If it
 * does not answer, all sessions that wait to be asked about have that answer.
 */
export function sessionQuestions(settings: pg.ClientConfig): Ask {
  let asking: Promise<boolean | null> | null = null;
  return async (session, waits) => {
    while (asking !== null) if ((await asking) === null) return null;
    asking = endIfWaiting(settings, session, waits).finally(() => {
      asking = null;
    });
    return asking;
  };
}

/** So often a session is asked about until it has ended. That takes one minute or more. */
const END_TRIES = 60;
const END_PAUSE_MS = 1_000;

/** PostgreSQL may not learn that the connection is closed, and wait for the rest of a statement. */
async function endLater(ask: Ask, session: string): Promise<void> {
  if (session === '') return;
  for (let n = 0; n < END_TRIES && (await ask(session, () => true)) !== true; n++) {
    await sleep(END_PAUSE_MS, undefined, { ref: false });
  }
}

/** After this time without a byte, a query asks whether PostgreSQL answers at all. */
const SILENT_MS = 2_000;

/**
 * Begins the session of a new connection, and destroys the connection when a query gets no answer (ADR 33): within
 * seconds when PostgreSQL does not answer on a new connection either (`silent`), waits for us in this
 * session while we wait for it, or does not have the session any more (`lost`). So a long statement
 * may take its time, but a PostgreSQL that hangs and a lost connection hold no request for long.
 * @throws DatabaseError when PostgreSQL is a standby.
 * @param ask the `sessionQuestions` of the database
 * @param longestMs longest time that a query may wait without a byte in either direction, whatever PostgreSQL answers.
 */
export async function beginSession(client: Client, ask: Ask, longestMs: number): Promise<void> {
  const stream = streamOf(client);
  const intervalMs = Math.min(SILENT_MS, longestMs);
  let session = '';
  /** How many bytes were written when no query was in progress. More of them: one is. */
  let idleBytes = stream.bytesWritten;
  let quiet = { bytes: -1, sinceMs: 0 };
  client.on('drain', () => (idleBytes = stream.bytesWritten));

  /** Why the connection is of no use; null: it is in order. */
  const failure = async (): Promise<Error | null> => {
    const { bytesRead, bytesWritten } = stream;
    const isQuiet = (): boolean =>
      stream.bytesRead === bytesRead && stream.bytesWritten === bytesWritten;
    const waits = (): boolean => bytesWritten !== idleBytes && isQuiet() && !awaitsRows(client);
    if (!waits()) return null;
    const isTooLong = performance.now() - quiet.sinceMs >= longestMs;
    const hasEnded = isTooLong ? null : await ask(session, waits);
    // The answer may be there, and not read yet.
    await nextTurn();
    if (!waits()) return null;
    if (hasEnded === null) {
      void endLater(ask, session);
      return new DatabaseError('silent');
    }
    return hasEnded && session !== '' ? new DatabaseError('lost') : null;
  };
  stream.setTimeout(intervalMs);
  stream.on('timeout', () => {
    const bytes = stream.bytesRead + stream.bytesWritten;
    if (bytes !== quiet.bytes) quiet = { bytes, sinceMs: performance.now() - intervalMs };
    void failure().then((error) => {
      if (error !== null) stream.destroy(error);
      // The timer runs once, until the next byte.
      else if (!stream.destroyed) stream.setTimeout(intervalMs);
    });
  });
  const { rows } = await client.query<{ session: string | null; isStandby: boolean }>(
    BEGIN_SESSION,
  );
  if (rows[0].isStandby) throw new DatabaseError('standby');
  session = rows[0].session ?? '';
}

/** Whether a COPY is in progress that waits for its next rows, and not for PostgreSQL. */
function awaitsRows(client: Client): boolean {
  const rows = rowsTo(client);
  return rows !== undefined && !rows.writableEnded && !rows.writableNeedDrain;
}
