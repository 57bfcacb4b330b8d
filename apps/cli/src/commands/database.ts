import { repairDigest } from '@weir/control-plane/feed/digest-check';
import { optional, parseVariables, StartError, url } from '@weir/ops';
import { withDatabase as withServer } from '@weir/tools/stack/database';
import { restoreBackup } from '@weir/tools/backup/restore-backup';
import { writeBackup } from '@weir/tools/backup/write-backup';
import { statSync } from 'node:fs';
import { type Context, Failure } from '../context.js';
import { withDatabase } from '../database.js';
import { stackFolder } from '../stack.js';
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
  const log = (line: string): void => context.terminal.printError(line);
  await onDatabase(context, true, async (databaseUrl, signal) => {
    const revision = await restoreBackup({ databaseUrl, file, replace, log, signal });
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
  await withServer(DATABASE_URL, stackFolder(environment), mayCreate, async (databaseUrl) => {
    const done = await work(databaseUrl, ended.signal);
    terminal.print(`${done}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  });
}

/** Puts a digest in force that fits the rows again. @param options.check only says whether it fits */
export async function repair(context: Context, options: { readonly check?: true }): Promise<void> {
  const isCheck = options.check ?? false;
  const repaired = await withDatabase(context, (pool) => repairDigest(pool, isCheck));
  const { revision, before, ofRows } = repaired;
  const { terminal } = context;
  if (before === ofRows) {
    terminal.print(`the digest ${ofRows} fits the rows at revision ${revision}; nothing to do`);
  } else if (isCheck) {
    terminal.print(
      `the digest ${before} at revision ${revision} does not fit: the rows have ${ofRows}`,
    );
    throw new Failure();
  } else {
    terminal.print(`the digest was ${before} and is ${ofRows} from revision ${revision} on`);
  }
}
