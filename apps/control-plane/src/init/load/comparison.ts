import type { ClientBase } from 'pg';
import { copyIn } from '../../platform/database/copy-in.js';
import { copyOut } from '../../platform/database/copy-out.js';
import { Column } from '../draft/column.js';
import type { ComparedTable } from './compared-tables.js';
import { copyLines } from './copy-lines.js';
import type { Difference } from './difference.js';

/** The stored rows of one table, compared with those of the draft. */
export class Comparison {
  /** Where the stored rows are that the draft does not have: block, and number within it. */
  private readonly blocks = Column.uint32();
  private readonly numbers = Column.int32();
  /** By row of the draft: 1 when it is stored. */
  private readonly isStored: Uint8Array;
  private storedRows = 0;
  /** The row after the last one that was found: most rows are stored in the order of the draft. */
  private nextRow = 0;

  private constructor(
    private readonly client: ClientBase,
    readonly table: ComparedTable,
    private readonly difference: Difference,
  ) {
    this.isStored = new Uint8Array(table.count);
  }

  /** Reads every stored row once. */
  static async make(
    client: ClientBase,
    table: ComparedTable,
    difference: Difference,
  ): Promise<Comparison> {
    const comparison = new Comparison(client, table, difference);
    const query = `SELECT ctid, ${table.columns} FROM ${table.name}`;
    await copyOut(client, query, table.stored, comparison.visit);
    return comparison;
  }

  /** The number of rows to delete and to insert. */
  get differentRows(): number {
    return this.blocks.length + this.missingRows;
  }

  /** Deletes the stored rows that the draft does not have. */
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

  /** Inserts the rows of the draft that are not stored. */
  async insertMissing(): Promise<void> {
    if (this.missingRows === 0) return;
    const { client, table, difference, isStored } = this;
    const lines = copyLines(table.count, (row) => {
      if (isStored[row] === 1) return '';
      if (!difference.isTooLarge) table.noteInserted(difference, row);
      return table.line(row);
    });
    await copyIn(client, `${table.name} (${table.columns})`, lines);
  }

  private get missingRows(): number {
    return this.table.distinctCount - this.storedRows;
  }

  /** The row of the draft that is equal to a stored row; null: there is none. */
  private find(bytes: Buffer, at: number): number | null {
    const { table, nextRow } = this;
    if (nextRow < table.count && table.isEqual(nextRow, bytes, at)) return nextRow;
    const row = table.find(bytes, at);
    return row !== null && table.isEqual(row, bytes, at) ? row : null;
  }

  private readonly visit = (bytes: Buffer, at: number): void => {
    const { table, difference } = this;
    const row = this.find(bytes, at);
    if (row !== null) {
      this.isStored[row] = 1;
      this.storedRows++;
      this.nextRow = row + 1;
      return;
    }
    const [place] = table.stored.offsets;
    this.blocks.push(bytes.readUInt32BE(at + place));
    this.numbers.push(bytes.readUInt16BE(at + place + 4));
    if (!difference.isTooLarge) table.noteDeleted(difference, bytes, at);
  };
}
