import { type Node, parse } from 'libpg-query';
import { runsInTransaction, splitStatements } from '../migrate/migration-files.js';
import { checkStatement, createdBy, namesOf, tableOf } from './check-statement.js';
import type { Finding, FindingKind } from './finding.js';

/**
 * Comments that allow exceptions. `contract: since <migration>` names the migration that a release must know
 * afterwards.
 */
const CONTRACT = /^-- contract: since (\S+)$/m;
const LOCKS = /^-- locks: \S.*$/m;

const ADVICE: Readonly<Record<FindingKind, string>> = {
  contracts:
    'the previous release may need it; when no release does any more, say "-- contract: since <migration>"',
  locks:
    'others wait for as long as a large table takes; where that is not long, say "-- locks: <why>"',
  never: 'the runner cannot work with it',
};

/**
 * Checks a migration against the rules of docs/operations/upgrades.md: expand first, contract later, and do not
 * block others.
 * @param sql the file.
 * @param earlier names of all migrations before it, in order. If empty, this is the first one, and no earlier
 * release can exist.
 * @returns one line for each fault, with the line number in the file.
 * @throws SqlError when PostgreSQL's parser cannot read it.
 */
export async function checkMigration(sql: string, earlier: readonly string[]): Promise<string[]> {
  const statements = await readStatements(sql);
  if (earlier.length === 0) return [];
  if (!runsInTransaction(sql)) return checkWithoutTransaction(sql, statements);
  const fresh = new Set(statements.flatMap(({ node }) => createdBy(node)));
  const permitted = permittedKinds(sql);
  const faults = statements.flatMap(({ node, line }) =>
    [...checkStatement(node, fresh), ...checkConcurrently(node)]
      .filter(({ kind }) => !permitted.has(kind))
      .map(({ kind, text }) => `line ${line} ${text}: ${ADVICE[kind]}`),
  );
  return [...faults, ...checkContract(sql, statements, earlier)];
}

interface Statement {
  readonly node: Node;
  /** Line number, starting at 1. */
  readonly line: number;
}

async function readStatements(sql: string): Promise<Statement[]> {
  const { stmts = [] } = await parse(sql);
  return stmts.flatMap(({ stmt: node, stmt_location: offsetBytes = 0 }) =>
    node === undefined ? [] : [{ node, line: lineAt(sql, offsetBytes) }],
  );
}

/** The line where a statement begins, after blank lines and comments. */
function lineAt(sql: string, offsetBytes: number): number {
  const before = Buffer.from(sql).subarray(0, offsetBytes).toString();
  const gap = /^(?:\s|--.*\n)*/.exec(sql.slice(before.length))?.[0] ?? '';
  return `${before}${gap}`.split('\n').length;
}

function permittedKinds(sql: string): ReadonlySet<FindingKind> {
  const kinds = new Set<FindingKind>();
  if (CONTRACT.test(sql)) kinds.add('contracts');
  if (LOCKS.test(sql)) kinds.add('locks');
  return kinds;
}

function checkConcurrently(statement: Node): Finding[] {
  return isConcurrent(statement)
    ? [{ kind: 'never', text: 'is CONCURRENTLY in a file without "-- transaction: none"' }]
    : [];
}

/** The comment and the value for schema_compatibility must name the same migration, and it must exist. */
function checkContract(
  sql: string,
  statements: readonly Statement[],
  earlier: readonly string[],
): string[] {
  const since = CONTRACT.exec(sql)?.[1];
  const set = statements.map(minMigrationSetBy).find((value) => value !== undefined);
  if (since === set && (since === undefined || earlier.includes(since))) return [];
  if (since === undefined)
    return ['it sets min_migration without "-- contract: since <migration>"'];
  if (!earlier.includes(since)) return [`there is no migration ${since} before it`];
  return [
    `it says "-- contract: since ${since}" without UPDATE schema_compatibility SET min_migration = '${since}'`,
  ];
}

function minMigrationSetBy({ node }: Statement): string | undefined {
  if (!('UpdateStmt' in node) || tableOf(node) !== 'schema_compatibility') return undefined;
  for (const target of node.UpdateStmt.targetList ?? []) {
    if (!('ResTarget' in target) || target.ResTarget.name !== 'min_migration') continue;
    const { val } = target.ResTarget;
    return (val !== undefined && 'A_Const' in val ? val.A_Const.sval?.sval : undefined) ?? '';
  }
  return undefined;
}

/**
 * Such a file may fail at any statement and is then run again from its start. So it may only drop and create indexes.
 */
function checkWithoutTransaction(sql: string, statements: readonly Statement[]): string[] {
  const pairs = Array.from({ length: Math.ceil(statements.length / 2) }, (_, i) =>
    isRepeatableBuild(statements[2 * i]?.node, statements[2 * i + 1]?.node),
  );
  const faults: string[] = [];
  if (pairs.includes(false)) {
    faults.push(
      'a file with "-- transaction: none" may hold nothing but pairs of ' +
        'DROP INDEX CONCURRENTLY IF EXISTS <name>; and CREATE INDEX CONCURRENTLY <name> …;',
    );
  }
  if (splitStatements(sql).length !== statements.length) {
    faults.push('each statement must end with the only semicolon at the end of a line in it');
  }
  return faults;
}

function isRepeatableBuild(drop: Node | undefined, create: Node | undefined): boolean {
  if (drop === undefined || create === undefined) return false;
  if (!('DropStmt' in drop) || !('IndexStmt' in create)) return false;
  return (
    isConcurrent(drop) &&
    isConcurrent(create) &&
    drop.DropStmt.missing_ok === true &&
    create.IndexStmt.if_not_exists !== true &&
    namesOf(drop.DropStmt) === create.IndexStmt.idxname
  );
}

function isConcurrent(node: Node): boolean {
  const [body] = Object.values(node) as { concurrent?: boolean }[];
  return body?.concurrent === true;
}
