import pg from 'pg';
import { acceptHeld, readHeld } from '../catalogue/store/source-store.js';
import { grouped, type Terminal } from './terminal.js';

/** Prints which lists wait for somebody to accept them. */
export async function printHeld(databaseUrl: string, terminal: Terminal): Promise<void> {
  const held = await withDatabase(databaseUrl, readHeld);
  for (const { name, problem } of held) terminal.print(`held: ${name} ${problem}`);
  if (held.length > 0) terminal.print('npm run catalogue -- accept SOURCE takes a held list');
}

/** Takes the held list of a source. @returns whether there was one. */
export async function accept(
  databaseUrl: string,
  name: string,
  terminal: Terminal,
): Promise<boolean> {
  const domains = await withDatabase(databaseUrl, (pool) => acceptHeld(pool, name));
  if (domains === null) terminal.printError(`catalogue: no list of ${name} is held`);
  else terminal.print(`${name}: a list of ${grouped(domains)} domains is taken`);
  return domains !== null;
}

async function withDatabase<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'weir-catalogue' });
  pool.on('error', () => undefined);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
