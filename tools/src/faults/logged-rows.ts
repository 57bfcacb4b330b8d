import { type EncodedOperation, type EntityKind, KEY_LENGTHS, type Row } from '@weir/config-model';
import type { LoggedRecords } from './keys/key.js';

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
    // `POST /init/` keeps the schedules.
    for (const [kind, rows] of this.rows) if (kind !== 'schedule') rows.clear();
  }

  private of(kind: EntityKind): Map<string, Row> {
    const rows = this.rows.get(kind) ?? new Map<string, Row>();
    this.rows.set(kind, rows);
    return rows;
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
