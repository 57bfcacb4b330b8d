import { StartError } from '@weir/ops';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One migration file. */
export interface Migration {
  /** Name of its folder: `<timestamp>_<what>`; migrations are applied in the order of their names. */
  readonly name: string;
  readonly sql: string;
  /** sha256 of the file, as Prisma records it. */
  readonly checksum: string;
}

/**
 * Marks a file whose statements cannot run in a transaction, such as `CREATE INDEX CONCURRENTLY`.
 */
const NO_TRANSACTION = /^-- transaction: none$/m;

/** Reads the migrations of a folder with Prisma's layout: `<name>/migration.sql`. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new StartError(`the migrations in ${folder} cannot be read`, { cause });
  });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(folder, name)));
}

export function runsInTransaction(sql: string): boolean {
  return !NO_TRANSACTION.test(sql);
}

/**
 * Splits a file without a transaction into statements. Each ends with a semicolon at the end of a line, and has no
 * other semicolon there.
 */
export function splitStatements(sql: string): string[] {
  const pieces = sql.split(/;[ \t]*$/m);
  return pieces.filter((piece) => piece.replace(/--.*$/gm, '').trim() !== '');
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const file = join(folder, name, 'migration.sql');
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new StartError(`${file} cannot be read`, { cause });
  });
  const checksum = createHash('sha256').update(bytes).digest('hex');
  return { name, sql: bytes.toString('utf8'), checksum };
}
