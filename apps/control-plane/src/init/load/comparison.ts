import type { ClientBase } from 'pg';
import { copyIn, copyLines, copyOut } from '../../platform/database/copy.js';
import { Column } from '../draft/columns.js';
import type { DraftTable } from '../draft/draft-table.js';
import type { Difference } from './difference.js';

/**
 * @param bytes valid during the call. @param isEqual whether the row of the draft has the same values.
 * @param row of the draft, with the same key; null: there is none.
 */
type StoredVisitor = (bytes: Buffer, at: number, row: number | null, isEqual: boolean) => void;

/** Reads every stored row of a table once. */
export function readStored(
  client: ClientBase,
  table: DraftTable,
  visit: StoredVisitor,
): Promise<void> {
  // Most rows are stored in the order of the draft.
  let next = 0;
  const query = `SELECT ${table.selected} FROM ${table.name}`;
  return copyOut(client, query, table.stored, (bytes, at) => {
    const isNext = next < table.count && table.isEqual(next, bytes, at);
    const row = isNext ? next : table.find(bytes, at);
    const isEqual = isNext || (row !== null && table.isEqual(row, bytes, at));
    if (isEqual && row !== null) next = row + 1;
    visit(bytes, at, row, isEqual);
  });
}

/** What is to be written to one table, so that it has the rows of the draft. */
export class Comparison {
  /** Where the stored rows are that are to be deleted: block, and number within it. */
  private readonly blocks = Column.uint32();
  private readonly numbers = Column.int32();
  /** By row of the draft: 1 when it is stored. */
  private readonly isStored: Uint8Array;
  private storedRows = 0;

  constructor(
    private readonly client: ClientBase,
    readonly table: DraftTable,
    private readonly difference: Difference,
  ) {
    this.isStored = new Uint8Array(table.count);
  }

  /** Reads every stored row once. */
  read(): Promise<void> {
    const { client, table, difference, isStored } = this;
    const [place] = table.stored.offsets;
    return readStored(client, table, (bytes, at, row, isEqual) => {
      if (row !== null && isEqual) {
        isStored[row] = 1;
        this.storedRows++;
        return;
      }
      if (row !== null && table.isReferred) return;
      this.blocks.push(bytes.readUInt32BE(at + place));
      this.numbers.push(bytes.readUInt16BE(at + place + 4));
      if (!difference.isTooLarge) difference.delete(table.kind, table.storedRecord(bytes, at));
    });
  }

  /** The number of rows to delete, to insert and to update. */
  get differentRows(): number {
    return this.blocks.length + this.missingRows;
  }

  /** Deletes the stored rows that the draft does not have. Others may still refer to those of a referred table. */
  async deleteOthers(): Promise<void> {
    const { client, blocks, numbers } = this;
    if (blocks.length === 0) return;
    const { name } = this.table;
    await client.query(`CREATE TEMPORARY TABLE old_${name} (place tid) ON COMMIT DROP`);
    const places = copyLines(blocks.length, (i) => `(${blocks.at(i)},${numbers.at(i)})\n`);
    await copyIn(client, `old_${name} (place)`, places);
    await client.query(
      `DELETE FROM ${name} WHERE ctid = ANY (ARRAY(SELECT place FROM old_${name}))`,
    );
  }

  /** Writes the rows of the draft that are not stored, or with other values. */
  async putMissing(): Promise<void> {
    if (this.missingRows === 0) return;
    const { client, table, difference, isStored } = this;
    const { name, columns } = table;
    const lines = copyLines(table.count, (row) => {
      if (isStored[row] === 1 || table.isRepeated(row)) return '';
      if (!difference.isTooLarge) difference.put(table.kind, table.at(row));
      return table.line(row);
    });
    if (!table.isReferred) {
      await copyIn(client, `${name} (${columns})`, lines);
      return;
    }
    // COPY updates no rows.
    await client.query(`
      CREATE TEMPORARY TABLE new_${name} ON COMMIT DROP AS SELECT ${columns} FROM ${name} WITH NO DATA`);
    await copyIn(client, `new_${name} (${columns})`, lines);
    const values = columns.split(', ').map((column) => `${column} = EXCLUDED.${column}`);
    await client.query(`
      INSERT INTO ${name} (${columns}) SELECT * FROM new_${name}
      ON CONFLICT (id) DO UPDATE SET ${values.join(', ')}`);
  }

  private get missingRows(): number {
    return this.table.distinctCount - this.storedRows;
  }
}
