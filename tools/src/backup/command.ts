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
    const { values, positionals } = parse(isRestore);
    if (values.help === true) {
      print(help.trimEnd());
      return;
    }
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new StartError('name one file (see --help)');
    const interrupted = new AbortController();
    abortOnSignal(interrupted, (signal) => `ended by ${signal}; all is as it was`);
    const startedMs = performance.now();
    const { DATABASE_URL, DATA_DIR } = parseVariables(SCHEMA, process.env);
    await withDatabase(DATABASE_URL, resolve(ROOT, DATA_DIR), isRestore, async (databaseUrl) => {
      const { signal } = interrupted;
      const done = await run({ databaseUrl, file, replace: values.replace === true, signal });
      print(`${done}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    });
  });
}

function parse(isRestore: boolean) {
  const replace = isRestore ? ({ replace: { type: 'boolean' } } as const) : {};
  try {
    const options: { help: { type: 'boolean' }; replace?: { type: 'boolean' } } = {
      help: { type: 'boolean' },
      ...replace,
    };
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new StartError(`${(error as Error).message} (see --help)`);
  }
}
