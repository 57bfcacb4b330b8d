import type { DropStmt, Node, RangeVar } from 'libpg-query';
import { checkAlterTable, columnOf, lastName } from './check-alter-table.js';
import { contracts, type Finding, locks, never } from './finding.js';

/** Tables with few rows: a lock on them is short. */
const SMALL_TABLES = new Set(['config_head', 'schema_compatibility', 'catalogue_source']);

const HARMLESS = new Set([
  'CommentStmt',
  'CreateEnumStmt',
  'CreateSeqStmt',
  'CreateStmt',
  'CreateTrigStmt',
  'InsertStmt',
  'SelectStmt',
  'ViewStmt',
]);

/** @param fresh tables and columns that the same file creates: nobody uses them yet. */
export function checkStatement(statement: Node, fresh: ReadonlySet<string>): Finding[] {
  const table = tableOf(statement);
  if (fresh.has(table)) return [];
  const findings = checkAny(statement, table, fresh);
  return SMALL_TABLES.has(table) ? findings.filter(({ kind }) => kind !== 'locks') : findings;
}

function checkAny(statement: Node, table: string, fresh: ReadonlySet<string>): Finding[] {
  if ('AlterTableStmt' in statement) {
    const commands = statement.AlterTableStmt.cmds ?? [];
    return commands.flatMap((node) =>
      'AlterTableCmd' in node ? checkAlterTable(table, node.AlterTableCmd, fresh) : [],
    );
  }
  if ('IndexStmt' in statement) {
    const { concurrent, idxname = '' } = statement.IndexStmt;
    return concurrent === true ? [] : [locks(`builds the index ${idxname} without CONCURRENTLY`)];
  }
  if ('DropStmt' in statement) return [contracts(`drops ${namesOf(statement.DropStmt)}`)];
  if ('RenameStmt' in statement) {
    const { subname, relation, newname = '' } = statement.RenameStmt;
    return [contracts(`renames ${subname ?? relation?.relname ?? 'something'} to ${newname}`)];
  }
  if ('AlterEnumStmt' in statement) {
    const { oldVal } = statement.AlterEnumStmt;
    return oldVal === undefined ? [] : [contracts(`renames the value ${oldVal} of a type`)];
  }
  if ('CreateFunctionStmt' in statement) {
    const { replace, funcname } = statement.CreateFunctionStmt;
    return replace === true ? [contracts(`replaces the function ${lastName(funcname)}`)] : [];
  }
  if ('GrantStmt' in statement) {
    return statement.GrantStmt.is_grant === true ? [] : [contracts('takes a right away')];
  }
  if ('UpdateStmt' in statement) return [locks(`changes rows of ${table} that others may want`)];
  if ('DeleteStmt' in statement) return [contracts(`deletes rows of ${table}`)];
  if ('TruncateStmt' in statement) return [contracts('empties a table')];
  if ('DoStmt' in statement) return [contracts('runs a block of code, which cannot be checked')];
  if ('TransactionStmt' in statement) return [never('begins or ends a transaction of its own')];
  const [kind = ''] = Object.keys(statement);
  return HARMLESS.has(kind) ? [] : [contracts(`is a ${kind}, which the check does not know`)];
}

/** The tables and columns that a statement creates: `table` and `table.column`. */
export function createdBy(statement: Node): string[] {
  const table = tableOf(statement);
  if ('CreateStmt' in statement) return [table];
  if (!('AlterTableStmt' in statement)) return [];
  return (statement.AlterTableStmt.cmds ?? []).flatMap((node) => {
    if (!('AlterTableCmd' in node) || node.AlterTableCmd.subtype !== 'AT_AddColumn') return [];
    return [`${table}.${columnOf(node.AlterTableCmd.def).colname ?? ''}`];
  });
}

/** The table of a statement, without its schema; empty if there is none. */
export function tableOf(statement: Node): string {
  const [body] = Object.values(statement) as { relation?: RangeVar }[];
  return body?.relation?.relname ?? '';
}

/** Names of the objects that a DROP removes. */
export function namesOf({ objects = [] }: DropStmt): string {
  return objects.map(nameOf).join(', ');
}

function nameOf(object: Node): string {
  if ('List' in object) return lastName(object.List.items);
  if ('TypeName' in object) return lastName(object.TypeName.names);
  if ('ObjectWithArgs' in object) return lastName(object.ObjectWithArgs.objname);
  return lastName([object]);
}
