import { SCHEMA } from '@weir/control-plane/configuration';
import { parseVariables } from '@weir/ops';
import pg from 'pg';
import { type Context, Failure } from './context.js';
import { controlPlaneVariables } from './stack.js';

/** Runs some work on the database of the control plane, and closes it afterwards. */
export async function withDatabase<T>(
  { environment }: Context,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const variables = controlPlaneVariables(environment, 'DATABASE_URL');
  const { DATABASE_URL } = parseVariables({ DATABASE_URL: SCHEMA.DATABASE_URL }, variables);
  const pool = new pg.Pool({
    connectionString: DATABASE_URL,
    max: 1,
    application_name: 'weir-command',
  });
  pool.on('error', () => undefined);
  try {
    await pool.query('SELECT').catch((error: unknown) => {
      const { message } = (error instanceof AggregateError ? error.errors[0] : error) as Error;
      const where = 'DATABASE_URL, or the local stack (npm start)';
      throw new Failure(`the database cannot be used (${where}): ${message}`);
    });
    return await work(pool);
  } finally {
    await pool.end();
  }
}
