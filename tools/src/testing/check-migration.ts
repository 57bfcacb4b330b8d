import { runsInTransaction, splitStatements } from '../migrate/migrations.js';

/** A file that removes or forbids what the previous release may use names the migration that ended that use. */
const CONTRACT = /^-- contract: since (\S+)$/m;
const LOCKS = /^-- locks: \S.*$/m;
const MIN_MIGRATION = /^UPDATE schema_compatibility SET min_migration = '(\S*)';$/m;

/** A value that is the same for each row: PostgreSQL adds a column with such a default without rewriting the rows. */
const CONSTANT = String.raw`(''|-?\d+|TRUE|FALSE|NULL|now\(\)|CURRENT_TIMESTAMP|ARRAY\[\])(::[\w[\]]+)?`;
/** Statements, and clauses of ALTER TABLE, that only add something, and hold nobody up. */
const EXPANDING =
  /^(ALTER TYPE \S+ ADD VALUE|COMMENT|CREATE (FUNCTION|SEQUENCE|TABLE|TRIGGER|TYPE|VIEW)|GRANT|INSERT|SELECT)\b/i;
const EXPANDING_CLAUSES = [
  new RegExp(
    String.raw`^ADD (COLUMN )?\w+ (?!\w*serial)[\w[\]]+( NULL)?( NOT NULL)? DEFAULT ${CONSTANT}$`,
    'i',
  ),
  /^ADD (COLUMN )?(?!CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)\w+ (?!\w*serial)[\w[\]]+( NULL)?$/i,
  /^ADD CONSTRAINT \w+ (CHECK|FOREIGN KEY) .* NOT VALID$/i,
  /^ADD CONSTRAINT \w+ (UNIQUE|PRIMARY KEY) USING INDEX \w+$/i,
  /^ALTER (COLUMN )?\w+ (SET DEFAULT .+|DROP NOT NULL|SET (STORAGE|STATISTICS) \w+)$/i,
  /^(VALIDATE CONSTRAINT|ENABLE ALWAYS TRIGGER) \w+$/i,
];
/** Others that hold others up for as long as a large table takes. The rest contracts. */
const LOCKING = [
  /^(UPDATE|CREATE (UNIQUE )?INDEX) /i,
  /^ADD (COLUMN )?\w+ .*\b(\w*serial|DEFAULT|GENERATED|REFERENCES|CHECK|UNIQUE|PRIMARY KEY)\b/i,
  /^ADD CONSTRAINT (?!\w+ NOT NULL)/i,
];
const INDEX_BUILD =
  /^DROP INDEX CONCURRENTLY IF EXISTS (\S+)\nCREATE (?:UNIQUE )?INDEX CONCURRENTLY (?!IF )\1\s[^;]*$/i;

/**
 * Checks a migration against the rules of docs/operations/upgrades.md: expand first, contract later, and do not block
 * others. It knows the forms that are allowed; every other one contracts.
 * @param earlier names of all migrations before it. If empty, this is the first one, and no earlier release can exist.
 * @returns one line for each fault
 */
export function checkMigration(sql: string, earlier: readonly string[]): string[] {
  if (earlier.length === 0) return [];
  if (!runsInTransaction(sql)) return checkIndexBuilds(sql);
  const statements = statementsOf(sql.replace(MIN_MIGRATION, ''));
  const fresh = new Set(statements.flatMap((one) => /^CREATE TABLE (\w+)/i.exec(one)?.[1] ?? []));
  const faults = statements.flatMap((one) => {
    if (fresh.has(/ (?:TABLE|ON) (?:ONLY )?(\w+)/i.exec(one)?.[1] ?? '')) return [];
    if (/^(BEGIN|COMMIT|END|ROLLBACK|START)\b/i.test(one))
      return [`a transaction of its own: ${one}`];
    if (/\bCONCURRENTLY\b/i.test(one)) return [`needs "-- transaction: none": ${one}`];
    return partsOf(one).flatMap((part) => checkPart(part, sql));
  });
  return [...faults, ...checkContract(sql, earlier)];
}

function checkPart(part: string, sql: string): string[] {
  if (EXPANDING.test(part) || EXPANDING_CLAUSES.some((form) => form.test(part))) return [];
  if (LOCKING.some((form) => form.test(part)))
    return LOCKS.test(sql) ? [] : [`locks a table, which may need "-- locks: <why>": ${part}`];
  return CONTRACT.test(sql) ? [] : [`may need "-- contract: since <migration>": ${part}`];
}

/** The clauses of an ALTER TABLE; any other statement whole. */
function partsOf(statement: string): string[] {
  const clauses = /^ALTER TABLE (?:ONLY )?\S+ (.*)$/i.exec(statement)?.[1];
  // Commas within parentheses and brackets separate no clauses.
  return clauses?.split(/, (?![^([]*[)\]])/) ?? [statement];
}

/** Without comments, texts and the bodies of functions, each on one line. */
function statementsOf(sql: string): string[] {
  const plain = sql
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$1')
    .replace(/--.*$/gm, '')
    .replace(/'[^']*'/g, "''");
  const statements = plain.split(';').map((one) => one.trim().replace(/\s+/g, ' '));
  return statements.filter((one) => one !== '');
}

/** Such a file may fail at any statement and is then run again from its start. */
function checkIndexBuilds(sql: string): string[] {
  const statements = splitStatements(sql.replace(/^--.*$/gm, '')).map((one) => one.trim());
  const pairs = statements.flatMap((one, i) => (i % 2 === 0 ? [[one, statements[i + 1]]] : []));
  if (pairs.every((pair) => INDEX_BUILD.test(pair.join('\n')))) return [];
  return [
    'a file with "-- transaction: none" may hold nothing but pairs of ' +
      'DROP INDEX CONCURRENTLY IF EXISTS <name>; and CREATE INDEX CONCURRENTLY <name> …;',
  ];
}

/** The comment and the value for schema_compatibility must name the same migration, and it must exist. */
function checkContract(sql: string, earlier: readonly string[]): string[] {
  const [since, set] = [CONTRACT.exec(sql)?.[1], MIN_MIGRATION.exec(sql)?.[1]];
  if (since === set && (since === undefined || earlier.includes(since))) return [];
  return [
    `"-- contract: since ${since}" and min_migration = '${set}' are not one earlier migration`,
  ];
}
