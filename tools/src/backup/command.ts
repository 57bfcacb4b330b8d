import { optional, parseVariables, StartError, text, url } from '@weir/ops';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { abortOnSignal, runToEnd, print } from '../command.js';
import { withDatabase } from './database.js';

const SCHEMA = {
  DATABASE_URL: optional(url(['postgresql', 'postgres'], { description: 'The database.' })),
  DATA_DIR: text('a folder', { description: 'Folder of the local stack.', default: '.weir' }),
};

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What a command was asked to do. */
interface Request {
  readonly databaseUrl: string;
  readonly file: string;
  readonly replace: boolean;
  /** Aborted by SIGINT (Ctrl-C), SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
}

/** Runs `npm run backup` or `npm run restore` with the arguments and the environment of this process. */
export async function runCommand(
  help: string,
  isRestore: boolean,
  run: (request: Request) => Promise<string>,
): Promise<void> {
  await runToEnd(async () => {
    const { values, positionals } = parseArgs({
      options: { help: { type: 'boolean' }, replace: { type: 'boolean', default: false } },
      allowPositionals: true,
      strict: false,
    });
    const { help: isHelp, replace, ...unknown } = values;
    if (isHelp === true) return print(help.trimEnd());
    const [file] = positionals;
    const isKnown = Object.keys(unknown).length === 0 && (isRestore || replace === false);
    if (file === undefined || positionals.length > 1 || !isKnown)
      throw new StartError('name one file (see --help)');
    const interrupted = new AbortController();
    abortOnSignal(interrupted, (signal) => `ended by ${signal}; all is as it was`);
    const startedMs = performance.now();
    const { DATABASE_URL, DATA_DIR } = parseVariables(SCHEMA, process.env);
    await withDatabase(DATABASE_URL, resolve(ROOT, DATA_DIR), isRestore, async (databaseUrl) => {
      const { signal } = interrupted;
      const done = await run({ databaseUrl, file, replace: replace === true, signal });
      print(`${done}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    });
  });
}
