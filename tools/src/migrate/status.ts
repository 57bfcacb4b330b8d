import { withConnection } from './connection.js';
import { readMigrations } from './migration-files.js';
import { compare, readLog } from './migration-log.js';

export interface Status {
  /** One line for each migration, sorted by name. */
  readonly lines: readonly string[];
  readonly isUpToDate: boolean;
}

/**
 * Lists applied and pending migrations. Changes nothing and takes no lock.
 * @throws StartError as `migrate` does.
 */
export async function readStatus(databaseUrl: string, folder: string): Promise<Status> {
  const migrations = await readMigrations(folder);
  return withConnection(databaseUrl, async (client) => {
    const log = await readLog(client);
    const { pending, newer } = compare(log, migrations);
    const applied = log.logged.map(({ name, finishedAt }) => {
      const state = newer.includes(name) ? 'newer  ' : 'applied';
      return `${state}  ${name}  ${finishedAt?.toISOString()}`;
    });
    const lines = [...applied, ...pending.map(({ name }) => `pending  ${name}`)];
    return { lines, isUpToDate: pending.length === 0 };
  });
}
