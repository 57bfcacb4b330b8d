import { optional, parseVariables, StartError, url } from '@weir/ops';
import { withDatabase } from '@weir/tools/backup/database';
import { restoreBackup } from '@weir/tools/backup/restore-backup';
import { writeBackup } from '@weir/tools/backup/write-backup';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { ROOT, stackFolder } from '../stack.js';
import { grouped } from '../terminal.js';

const SCHEMA = {
  DATABASE_URL: optional(url(['postgresql', 'postgres'], { description: 'The database.' })),
};

/** Writes the contents of the database into one file. */
export async function backup(context: Context, file: string): Promise<void> {
  await onDatabase(context, false, async (databaseUrl, signal) => {
    const revision = await writeBackup(databaseUrl, file, signal);
    return `revision ${revision} is in ${file}: ${grouped(statSync(file).size)} bytes`;
  });
}

/** Replaces the contents of the database by a backup. */
export async function restore(
  context: Context,
  file: string,
  { replace = false }: { readonly replace?: boolean },
): Promise<void> {
  const folder = join(ROOT, 'prisma/migrations');
  const log = (line: string): void => {
    context.terminal.print(line);
  };
  await onDatabase(context, true, async (databaseUrl, signal) => {
    const revision = await restoreBackup({ databaseUrl, file, replace, folder, log, signal });
    return `the database is at revision ${revision} again`;
  });
}

async function onDatabase(
  { environment, terminal, interrupted }: Context,
  mayCreate: boolean,
  work: (databaseUrl: string, signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const startedMs = performance.now();
  const { DATABASE_URL } = parseVariables(SCHEMA, environment);
  const ended = new AbortController();
  const byUser = interrupted();
  byUser.addEventListener('abort', () => {
    ended.abort(new StartError(`ended by ${String(byUser.reason)}; all is as it was`));
  });
  await withDatabase(DATABASE_URL, stackFolder(environment), mayCreate, async (databaseUrl) => {
    const done = await work(databaseUrl, ended.signal);
    terminal.print(`${done}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  });
}
