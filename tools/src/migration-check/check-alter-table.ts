import type { AlterTableCmd, ColumnDef, Constraint, Node } from 'libpg-query';
import { contracts, type Finding, locks } from './finding.js';

/**
 * Functions with the same value for every row: PostgreSQL adds a column with such a default without rewriting the
 * rows.
 */
const STABLE_FUNCTIONS = new Set(['now', 'transaction_timestamp', 'statement_timestamp']);

/**
 * Checks one clause of an ALTER TABLE. An unknown clause counts as contracting.
 * @param fresh columns that the same file adds, as `table.column`.
 */
export function checkAlterTable(
  table: string,
  command: AlterTableCmd,
  fresh: ReadonlySet<string>,
): Finding[] {
  const column = `${table}.${command.name ?? ''}`;
  switch (command.subtype) {
    case 'AT_AddColumn':
      return checkNewColumn(table, columnOf(command.def));
    case 'AT_AddConstraint':
      return checkNewConstraint(table, constraintOf(command.def));
    case 'AT_ColumnDefault':
      return command.def === undefined ? [contracts(`drops the default of ${column}`)] : [];
    case 'AT_DropExpression':
      return fresh.has(column) ? [] : [contracts(`no longer computes ${column}`)];
    case 'AT_DropNotNull':
    case 'AT_EnableAlwaysTrig':
    case 'AT_ValidateConstraint':
    case 'AT_SetStorage':
    case 'AT_SetStatistics':
    case 'AT_SetRelOptions':
    case 'AT_ResetRelOptions':
      return [];
    case 'AT_DropColumn':
      return [contracts(`drops the column ${column}`)];
    case 'AT_DropConstraint':
      return [contracts(`drops the constraint ${command.name ?? ''} of ${table}`)];
    case 'AT_AlterColumnType':
      return [contracts(`changes the type of ${column}`)];
    case 'AT_SetNotNull':
      return [contracts(`forbids null in ${column}`)];
    default:
      return [contracts(`does something to ${table} that the check does not know`)];
  }
}

function checkNewColumn(
  table: string,
  { colname = '', constraints, typeName }: ColumnDef,
): Finding[] {
  const name = `${table}.${colname}`;
  const types = (constraints ?? []).map((node) => constraintOf(node));
  const has = (contype: Constraint['contype']): boolean =>
    types.some((constraint) => constraint.contype === contype);
  const isSerial = /serial/.test(lastName(typeName?.names));
  const isFilled =
    isSerial || has('CONSTR_DEFAULT') || has('CONSTR_GENERATED') || has('CONSTR_IDENTITY');
  const findings = types.flatMap((constraint) => checkColumnConstraint(name, constraint));
  if (isSerial) findings.push(locks(`numbers ${name} in every row`));
  if (has('CONSTR_NOTNULL') && !isFilled) {
    findings.push(contracts(`adds ${name}, which must not be null and has no default`));
  }
  return findings;
}

function checkColumnConstraint(name: string, constraint: Constraint): Finding[] {
  switch (constraint.contype) {
    case 'CONSTR_DEFAULT':
      return isStable(constraint.raw_expr)
        ? []
        : [locks(`computes the default of ${name} for every row`)];
    case 'CONSTR_GENERATED':
      return constraint.generated_kind === 's'
        ? [locks(`computes ${name} for every row, and stores it`)]
        : [];
    case 'CONSTR_IDENTITY':
      return [locks(`numbers ${name} in every row`)];
    case 'CONSTR_NULL':
    case 'CONSTR_NOTNULL':
      return [];
    case 'CONSTR_CHECK':
    case 'CONSTR_FOREIGN':
      return [locks(`checks every row for ${name}: add the constraint by itself, NOT VALID`)];
    default:
      return [locks(`builds an index on ${name}: build it CONCURRENTLY by itself`)];
  }
}

function checkNewConstraint(table: string, constraint: Constraint): Finding[] {
  const { contype, conname = '', skip_validation: isNotValid, indexname } = constraint;
  const what = `adds the constraint ${conname} to ${table}`;
  if (contype === 'CONSTR_CHECK' || contype === 'CONSTR_FOREIGN') {
    return isNotValid === true ? [] : [locks(`${what} without NOT VALID`)];
  }
  if (contype === 'CONSTR_NOTNULL') return [contracts(`${what}, which forbids null`)];
  return indexname === undefined ? [locks(`${what} without USING INDEX`)] : [];
}

function isStable(expression: Node | undefined): boolean {
  if (expression === undefined) return true;
  if ('TypeCast' in expression) return isStable(expression.TypeCast.arg);
  if ('FuncCall' in expression) return STABLE_FUNCTIONS.has(lastName(expression.FuncCall.funcname));
  return ['A_Const', 'A_ArrayExpr', 'SQLValueFunction'].some((kind) => kind in expression);
}

/** The name without its schema. */
export function lastName(names: readonly Node[] | undefined): string {
  const last = names?.at(-1);
  return last !== undefined && 'String' in last ? (last.String.sval ?? '') : '';
}

export function columnOf(node: Node | undefined): ColumnDef {
  if (node === undefined || !('ColumnDef' in node)) throw new TypeError('ADD COLUMN has no column');
  return node.ColumnDef;
}

function constraintOf(node: Node | undefined): Constraint {
  if (node === undefined || !('Constraint' in node)) throw new TypeError('a constraint is missing');
  return node.Constraint;
}
