import { encodeChange } from '@weir/config-model';
import { parseVariables, VariableError } from '@weir/ops';
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { Pool } from 'pg';
import { SCHEMA } from '../configuration.js';
import { digestOfRows } from '../feed/entity-tables.js';
import { readPages } from '../platform/database/snapshot.js';
import { withConnection } from '../platform/database/with-connection.js';
import { lockHead, logChanges, toLogEntries } from '../revisions/change-log.js';
import { ALL_PROFILES } from '../revisions/change-record.js';

/** Longest time between two statements while the rows are read. */
const IDLE_IN_TRANSACTION_MS = 60_000;

interface DigestRepair {
  /** The revision at the end. */
  readonly revision: number;
  /** The digest that the head had, and that of the rows. */
  readonly before: string;
  readonly ofRows: string;
}

/**
 * Computes the digest of all rows anew. If the head has another one, a change puts the right one in force: it has a
 * revision of its own and makes every follower load the whole configuration. Other changes wait meanwhile.
 * @param isDryRun nothing is changed.
 */
async function repairDigest(pool: Pool, isDryRun: boolean): Promise<DigestRepair> {
  return withConnection(pool, async (client) => {
    await client.query('BEGIN');
    const { head } = await lockHead(client, { idleInTransactionMs: IDLE_IN_TRANSACTION_MS });
    const { lineage, digest: before } = head;
    const ofRows = await digestOfRows((sql) => readPages(client, sql));
    if (before === ofRows || isDryRun) {
      await client.query('ROLLBACK');
      return { revision: head.revision, before, ofRows };
    }
    const revision = head.revision + 1;
    const change = encodeChange({ revision, digest: ofRows, operations: [{ type: 'reload' }] });
    const entries = toLogEntries([
      { change: { lineage, ...change }, author: { origin: 'repair' }, profiles: ALL_PROFILES },
    ]);
    await logChanges(client, entries);
    await client.query('COMMIT');
    return { revision, before, ofRows };
  });
}

export const USAGE = `usage: npm run repair -- digest [--check]

  digest      computes the digest of the configuration anew from the rows of the database. If the database has another
              one, because somebody has changed its tables directly, a change with a revision of its own puts the right
              one in force, and every resolver and block page loads the whole configuration. The rows stay as they are.
              Changes of the management API wait meanwhile, about a second for 100,000 rows

  --check     changes nothing; the exit code is 1 if the digest does not fit
  --help      this text

The database is that of DATABASE_URL. Everything may keep running.
Exit code: 0, or 1 when it failed, or 2 when the command is not valid.`;

const DONE = 0;
const FAILED = 1;
const USAGE_ERROR = 2;

/** Where a command prints its results, and its errors. */
export interface Output {
  print(line: string): void;
  printError(line: string): void;
}

class UsageError extends Error {}

/** Runs one command. @returns the exit code. */
export async function runRepair(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: Output,
): Promise<number> {
  try {
    const { help, check } = parse(argv);
    if (help) {
      output.print(USAGE);
      return DONE;
    }
    const { DATABASE_URL } = parseVariables({ DATABASE_URL: SCHEMA.DATABASE_URL }, environment);
    return await digest(DATABASE_URL, check, output);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const lines = error instanceof VariableError ? error.message.split('\n') : [messageOf(error)];
    for (const line of lines) output.printError(`repair: ${line}${isUsage ? '; see --help' : ''}`);
    return isUsage ? USAGE_ERROR : FAILED;
  }
}

async function digest(url: string, isCheck: boolean, output: Output): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'weir-repair' });
  pool.on('error', () => undefined);
  try {
    const { revision, before, ofRows } = await repairDigest(pool, isCheck);
    if (before === ofRows) {
      output.print(`the digest ${ofRows} fits the rows at revision ${revision}; nothing to do`);
      return DONE;
    }
    if (isCheck) {
      output.print(
        `the digest ${before} at revision ${revision} does not fit: the rows have ${ofRows}`,
      );
      return FAILED;
    }
    output.print(`the digest was ${before} and is ${ofRows} from revision ${revision} on`);
    return DONE;
  } finally {
    await pool.end();
  }
}

function parse(argv: readonly string[]): { help: boolean; check: boolean } {
  const options = { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options });
    const { check = false, help = false } = values;
    if (!help && positionals.length === 0) throw new UsageError('no command');
    if (!help && (positionals.length > 1 || positionals[0] !== 'digest')) {
      throw new UsageError(`unknown command ${positionals.join(' ').slice(0, 60)}`);
    }
    return { check, help };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError((cause as Error).message.split('. ')[0], { cause });
  }
}

/** PostgreSQL refuses a connection with several errors when a name has several addresses. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? String(code ?? error) : message;
}
