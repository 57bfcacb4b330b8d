import { type EncodedOperation, type EntityKind, KEY_LENGTHS, type Row } from '@weir/config-model';
import type { DeploymentPostgres } from '../deployment/stores.js';
import type { Key, LoggedRecords } from './keys/key.js';
import type { RunStats } from './run-stats.js';

/** The rows that the operations of the change log lead to. */
export class LoggedRows {
  private readonly rows = new Map<EntityKind, Map<string, Row>>();
  /** A reload does not say what it leads to. Then only the records that were changed since are known. */
  private known: Set<LoggedRecords> | 'all' = 'all';

  apply(operations: readonly EncodedOperation[]): void {
    for (const operation of operations) {
      const [type, kind, row] = operation;
      if (type === 'put') this.of(kind).set(keyOf(kind, row), row);
      else if (type === 'delete') this.of(kind).delete(keyOf(kind, row));
      else this.forget();
    }
  }

  /** Call it after a change of all records of a key. */
  learn(records: LoggedRecords): void {
    if (this.known !== 'all') this.known.add(records);
  }

  /** What the log says of the records of a key, as `Key.sql` says it of the tables. Undefined: it is not known. */
  text(records: LoggedRecords): string | null | undefined {
    const isKnown = this.known === 'all' || this.known.has(records);
    if (!isKnown) return undefined;
    const rows = [...this.of(records.kind).values()];
    return records.text(rows.filter((row) => hasPrefix(row, records)));
  }

  /** Nothing is known but what is changed from now on. */
  forgetAll(): void {
    this.known = new Set();
    this.rows.clear();
  }

  private forget(): void {
    this.known = new Set();
    // `POST /init/` leaves these as they are.
    for (const [kind, rows] of this.rows) if (kind !== 'schedule' && kind !== 'order') rows.clear();
  }

  private of(kind: EntityKind): Map<string, Row> {
    return this.rows.getOrInsertComputed(kind, () => new Map());
  }
}

/** Whether an operation is about a record of the key. */
export function isAbout(records: LoggedRecords, operation: EncodedOperation): boolean {
  const [type, kind, row] = operation;
  return type !== 'reload' && kind === records.kind && hasPrefix(row, records);
}

function hasPrefix(row: Row, { prefix }: LoggedRecords): boolean {
  return prefix.every((value, i) => row[i] === value);
}

function keyOf(kind: EntityKind, row: Row): string {
  return row.slice(0, KEY_LENGTHS[kind]).join();
}

/** A key and what `Key.sql` gives after the change. */
export interface SettledKey {
  readonly key: Key;
  readonly stored: string | null;
}

type AcknowledgedChanges = ReadonlyMap<number, readonly SettledKey[]>;

interface LogRow {
  readonly revision: number;
  readonly operations: readonly EncodedOperation[];
}

/** The log has no gap, and each acknowledged revision has the operations of the call that made it, and no others. */
export async function verifyLog(
  postgres: DeploymentPostgres,
  acknowledged: AcknowledgedChanges,
  stats: RunStats,
): Promise<void> {
  await verifyRevisions(postgres, acknowledged, stats);
  const rows = await postgres.query<LogRow>(
    'SELECT revision::float8 AS revision, operations FROM change ORDER BY revision',
  );
  const logged = new LoggedRows();
  // The log of a restored database begins after the backup.
  if (rows[0]?.revision !== 1) logged.forgetAll();
  for (const { revision, operations } of rows) {
    logged.apply(operations);
    const settled = acknowledged.get(revision) ?? [];
    const only = settled.length === 1 ? settled[0] : undefined;
    if (only !== undefined) logged.learn(only.key.logged);
    for (const { key, stored } of settled) {
      const text = logged.text(key.logged);
      if (text === undefined || text === stored) continue;
      stats.violation(
        `revision ${revision} of the log makes ${text} of the ${key.name} instead of ${stored}`,
      );
    }
    const other = only && operations.find((one) => !isAbout(only.key.logged, one));
    if (other === undefined) continue;
    stats.violation(
      `revision ${revision} changes ${JSON.stringify(other)}, and was a change of the ${only?.key.name}`,
    );
  }
}

async function verifyRevisions(
  postgres: DeploymentPostgres,
  acknowledged: AcknowledgedChanges,
  stats: RunStats,
): Promise<void> {
  const [log] = await postgres.query<Record<'head' | 'first' | 'last' | 'count', number>>(
    `SELECT (SELECT revision FROM config_head)::float8 AS head, min(revision)::float8 AS first,
            max(revision)::float8 AS last, count(*)::float8 AS count FROM change`,
  );
  const gaps = log.last - log.first + 1 - log.count;
  const begins = stats.faults.has('database restored from a backup') ? log.first : 1;
  if (gaps !== 0 || log.first !== begins || log.last !== log.head)
    stats.violation(`the log has gaps: ${JSON.stringify(log)}`);
  // No spread: a run of an hour has more revisions than a call can have arguments.
  const newest = acknowledged.keys().reduce((a, b) => Math.max(a, b), 0);
  if (newest > log.head)
    stats.violation(`revision ${newest} was acknowledged, the log ends at ${log.head}`);
}
