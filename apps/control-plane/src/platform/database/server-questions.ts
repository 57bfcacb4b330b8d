import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { streamOf } from './driver-internals.js';

/** Numbers of the sessions in which PostgreSQL waits for its client. */
export type WaitingSessions = ReadonlySet<number>;

/** Whether PostgreSQL has waited for a statement, or for the rest of one, for longer than a packet takes. */
const WAITS_FOR_CLIENT = `
  wait_event = 'ClientRead' AND state_change < clock_timestamp() - interval '1 second'`;
const WAITING = `
  SELECT pid FROM pg_stat_activity WHERE usename = current_user AND ${WAITS_FOR_CLIENT}`;
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
  waitingSessions(): Promise<WaitingSessions | null> {
    return this.ask(WAITING);
  }

  /** Ends a session if PostgreSQL waits for its client. @returns its number if it has ended; null: no answer. */
  endWaiting(pid: number): Promise<WaitingSessions | null> {
    return this.ask(END, [pid]);
  }

  /** An error is an answer. */
  private async ask(text: string, values: unknown[] = []): Promise<WaitingSessions | null> {
    const client = new pg.Client(this.settings);
    // It may break after its answer.
    client.on('error', () => undefined);
    const asked = client.connect().then(() => client.query<{ pid: number }>(text, values));
    const answered = asked.then(
      ({ rows }) => new Set(rows.map(({ pid }) => pid)),
      (error: unknown) => (error instanceof pg.DatabaseError ? new Set<number>() : null),
    );
    const answer = await Promise.race([answered, sleep(ANSWER_TIMEOUT_MS, null, { ref: false })]);
    if (answer === null) streamOf(client).destroy();
    else client.end().catch(() => undefined);
    return answer;
  }
}
