import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { streamOf } from './driver-internals.js';

/**
 * Whether PostgreSQL answers on a new connection, with a result or with an error. An existing connection would not do,
 * because it may itself be the one that is lost.
 */
export async function serverAnswers(
  settings: pg.ClientConfig,
  timeoutMs: number,
): Promise<boolean> {
  const client = new pg.Client(settings);
  // It may break after its answer.
  client.on('error', () => undefined);
  const asked = client.connect().then(() => client.query('SELECT 1'));
  const answered = asked.then(
    () => true,
    (error: unknown) => error instanceof pg.DatabaseError,
  );
  const answers = await Promise.race([answered, sleep(timeoutMs, false, { ref: false })]);
  if (answers) client.end().catch(() => undefined);
  else streamOf(client).destroy();
  return answers;
}
