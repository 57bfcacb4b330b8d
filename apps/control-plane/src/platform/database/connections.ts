import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from 'pg';
import { rowsTo } from './copy.js';
import { ConnectionLostError, DatabaseSilentError } from './database-errors.js';
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
 * the host of its client has acknowledged no packet for ten seconds. None of its other timeouts applies in the middle
 * of a statement or of a COPY. Times and numbers come in one form, whatever the database or the role has set.
 */
const BEGIN_SESSION = `
  SELECT ${SESSION} AS session, set_config('tcp_keepalives_idle', '5', false),
    set_config('tcp_keepalives_interval', '1', false), set_config('tcp_keepalives_count', '5', false),
    set_config('tcp_user_timeout', '10000', false), set_config('TimeZone', 'UTC', false),
    set_config('DateStyle', 'ISO', false), set_config('extra_float_digits', '1', false)
  FROM pg_stat_get_activity(pg_backend_pid())`;

export function streamOf({ connection }: Client): Socket {
  return connection.stream as Socket;
}

interface ServerState {
  /** The sessions of this user; null: PostgreSQL does not tell. */
  readonly sessions: readonly string[] | null;
  /** Those in which PostgreSQL waits for its client. */
  readonly waiting: readonly string[];
}

/** Whether PostgreSQL has waited for a statement, or for the rest of one, for longer than a packet takes. */
const WAITS_FOR_CLIENT = `
  wait_event = 'ClientRead' AND state_change < clock_timestamp() - interval '1 second'`;
const OWN = 'FROM pg_stat_activity WHERE usename = session_user';
const STATE = `
  SELECT ARRAY(SELECT ${SESSION} ${OWN}) AS sessions,
         ARRAY(SELECT ${SESSION} ${OWN} AND ${WAITS_FOR_CLIENT}) AS waiting`;
/** The session is gone when this returns. */
const END = `
  WITH waiting AS MATERIALIZED (SELECT pid ${OWN} AND ${WAITS_FOR_CLIENT} AND ${SESSION} = $1)
  SELECT pid FROM waiting WHERE pg_terminate_backend(pid, 1000)`;

/** After this time, a database that does not answer on a new connection counts as silent. */
const ANSWER_TIMEOUT_MS = 2_500;

/** Questions to PostgreSQL on a new connection each. An existing one may itself be the one that is lost. */
export class ServerQuestions {
  constructor(private readonly settings: pg.ClientConfig) {}

  /** @returns null when PostgreSQL does not answer. */
  async state(): Promise<ServerState | null> {
    const rows = await this.ask<ServerState>(STATE);
    return rows && (rows.at(0) ?? { sessions: null, waiting: [] });
  }

  /** Ends a session if PostgreSQL waits for its client. @returns whether it has ended; null: no answer. */
  async endWaiting(session: string): Promise<boolean | null> {
    const rows = await this.ask(END, [session]);
    return rows && rows.length > 0;
  }

  /** An error is an answer without rows. */
  private async ask<R extends object>(text: string, values: unknown[] = []): Promise<R[] | null> {
    const client = new pg.Client(this.settings);
    // It may break after its answer.
    client.on('error', () => undefined);
    const asked = client.connect().then(() => client.query<R>(text, values));
    const answered = asked.then(
      ({ rows }) => rows,
      (error: unknown) => (error instanceof pg.DatabaseError ? [] : null),
    );
    const answer = await withTimeout(answered, null, ANSWER_TIMEOUT_MS);
    if (answer === null) streamOf(client).destroy();
    else client.end().catch(() => undefined);
    return answer;
  }
}

/** What the watch knows of a connection. */
interface Connection {
  readonly client: Client;
  readonly stream: Socket;
  /** See `SESSION`; empty: not known yet. */
  session: string;
  /** How many bytes were written when no query was in progress. More of them: one is. */
  idleBytes: number;
}

/** After this time without a byte, the watch asks whether PostgreSQL answers at all. */
const SILENT_MS = 2_000;
/** So often the watch tries to end a session while PostgreSQL does not answer. That is one minute or more. */
const END_TRIES = 60;
const END_PAUSE_MS = 1_000;

/**
 * Destroys a connection whose query gets no answer: within seconds when PostgreSQL does not answer on a new connection
 * either (`DatabaseSilentError`), when it waits for us in this session while we wait for it, or does not have the
 * session any more (`ConnectionLostError`), and after the longest time of the connection in any case. So a long
 * statement may take its time, but a PostgreSQL that hangs and a lost connection hold no request for long. The session
 * is ended when PostgreSQL answers, which frees its locks.
 */
export class SilenceWatch {
  private readonly server: ServerQuestions;
  private asking: Promise<ServerState | null> | null = null;

  constructor(settings: pg.ClientConfig) {
    this.server = new ServerQuestions(settings);
  }

  /**
   * Watches a new connection as long as it lives. The first query goes over it before this resolves.
   * @param longestMs longest time that a query may wait without a byte in either direction.
   */
  async begin(client: Client, longestMs: number): Promise<void> {
    const stream = streamOf(client);
    const connection = { client, stream, session: '', idleBytes: stream.bytesWritten };
    client.on('drain', () => (connection.idleBytes = stream.bytesWritten));
    this.watch(connection, longestMs);
    const { rows } = await client.query<{ session: string | null }>(BEGIN_SESSION);
    connection.session = rows[0].session ?? '';
  }

  private watch(connection: Connection, longestMs: number): void {
    const { stream } = connection;
    const intervalMs = Math.min(SILENT_MS, longestMs);
    let quiet = { bytes: -1, sinceMs: 0 };
    stream.setTimeout(intervalMs);
    stream.on('timeout', () => {
      const bytes = stream.bytesRead + stream.bytesWritten;
      if (bytes !== quiet.bytes) quiet = { bytes, sinceMs: performance.now() - intervalMs };
      void this.failure(connection, quiet.sinceMs, longestMs).then((error) => {
        if (error !== null) stream.destroy(error);
        // The timer runs once, until the next byte.
        else if (!stream.destroyed) stream.setTimeout(intervalMs);
      });
    });
  }

  /** @returns why the connection is of no use; null: it is in order. */
  private async failure(
    connection: Connection,
    sinceMs: number,
    longestMs: number,
  ): Promise<Error | null> {
    const { stream, session } = connection;
    const { bytesRead } = stream;
    const waits = (): boolean => waitsForServer(connection) && stream.bytesRead === bytesRead;
    if (!waits()) return null;
    const silentMs = performance.now() - sinceMs;
    const state = silentMs >= longestMs ? null : await this.ask();
    // When this process was held up, there may be bytes that it has not read yet.
    await nextTurn();
    if (!waits()) return null;
    if (state === null) {
      void this.endLater(session);
      return new DatabaseSilentError();
    }
    const isGone = session !== '' && state.sessions?.includes(session) === false;
    if (isGone) return new ConnectionLostError();
    const isLost = state.waiting.includes(session) && (await this.server.endWaiting(session));
    return isLost === true ? new ConnectionLostError() : null;
  }

  /** PostgreSQL may not learn that the connection is closed, and wait for the rest of a statement. */
  private async endLater(session: string): Promise<void> {
    for (let n = 0; n < END_TRIES && (await this.server.endWaiting(session)) === null; n++) {
      await sleep(END_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** All connections that wait share one question. */
  private ask(): Promise<ServerState | null> {
    this.asking ??= this.server.state().finally(() => (this.asking = null));
    return this.asking;
  }
}

/** Whether a query is in progress, and PostgreSQL has to go on: a COPY may itself wait for its next rows. */
function waitsForServer({ client, stream, idleBytes }: Connection): boolean {
  const rows = rowsTo(client);
  const awaitsRows = rows !== undefined && !rows.writableEnded && !rows.writableNeedDrain;
  return stream.bytesWritten !== idleBytes && !awaitsRows;
}
