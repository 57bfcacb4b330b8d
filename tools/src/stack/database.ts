import { StartError } from '@weir/ops';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder, lockFolder, ownerOf } from '../services/files.js';
import { startPostgres } from '../services/postgres.js';

/**
 * Runs `use` with the URL of the database: that of the environment, that of the local stack in `folder` if it runs,
 * else the stack's own PostgreSQL, which is started for that long.
 * @param mayCreate whether a stack that has no data of PostgreSQL gets a new one
 * @throws StartError when there is no database
 */
export async function withDatabase(
  given: string | undefined,
  folder: string,
  mayCreate: boolean,
  use: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  const has = (name: string) => existsSync(join(folder, name));
  // The password stays where the data of another major version were put aside.
  const isOwn = has('postgres') || (mayCreate && (has('postgres.password') || !has('stack.json')));
  if (given !== undefined || !isOwn || ownerOf(folder) !== null) {
    await use(given ?? stackDatabase(join(folder, 'stack.json')));
    return;
  }
  createFolder(join(folder, 'logs'));
  using _lock = lockFolder(folder);
  const dataDir = join(folder, 'postgres');
  const logFile = join(folder, 'logs/postgres.log');
  await using server = await startPostgres({ dataDir, logFile });
  await use(server.url);
}

function stackDatabase(file: string): string {
  type Variables = Partial<Record<string, Record<string, string>>>;
  const variables = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Variables) : {};
  const url = variables['backup']?.['DATABASE_URL'];
  if (url !== undefined) return url;
  throw new StartError(
    `there is no database: set DATABASE_URL, or start the local stack (npm start), which writes ${file}`,
  );
}
