import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { streamOf } from './driver-internals.js';

/** Numbers of the sessions in which PostgreSQL waits for its client. */
export type WaitingSessions = ReadonlySet<number>;

export interface ServerState {
  /** Milliseconds since PostgreSQL was started. */
  readonly upMs: number;
  readonly waiting: WaitingSessions;
}

/** Whether PostgreSQL has waited for a statement, or for the rest of one, for longer than a packet takes. */
const WAITS_FOR_CLIENT = `
  wait_event = 'ClientRead' AND state_change < clock_timestamp() - interval '1 second'`;
const WAITING = `
  SELECT pid FROM pg_stat_activity WHERE usename = current_user AND ${WAITS_FOR_CLIENT}`;
const STATE = `
  SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 * 1000 AS up_ms,
         ARRAY(${WAITING}) AS pids`;
/** The session is gone when this returns. */
const END = `
  WITH waiting AS MATERIALIZED (${WAITING} AND pid = $1)
  SELECT pid FROM waiting WHERE pg_terminate_backend(pid, 1000)`;

/** After this time, a database that does not answer on a new connection counts as silent. */
const ANSWER_TIMEOUT_MS = 2_500;

/** Questions to PostgreSQL on a new connection each. An existing one may itself be the one that is lost. */
export class ServerQuestions {
  constructor(private readonly settings: pg.ClientConfig) {}

  /** @returns null when PostgreSQL does not answer. */
  async state(): Promise<ServerState | null> {
    const rows = await this.ask<{ up_ms: number; pids: number[] }>(STATE);
    if (rows === null) return null;
    const [{ up_ms: upMs, pids } = { up_ms: Infinity, pids: [] }] = rows;
    return { upMs, waiting: new Set(pids) };
  }

  /** Ends a session if PostgreSQL waits for its client. @returns its number if it has ended; null: no answer. */
  async endWaiting(pid: number): Promise<WaitingSessions | null> {
    const rows = await this.ask<{ pid: number }>(END, [pid]);
    return rows && new Set(rows.map((row) => row.pid));
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
    const answer = await Promise.race([answered, sleep(ANSWER_TIMEOUT_MS, null, { ref: false })]);
    if (answer === null) streamOf(client).destroy();
    else client.end().catch(() => undefined);
    return answer;
  }
}
