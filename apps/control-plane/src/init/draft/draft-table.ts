import { type Entities, type EntityKind, fromRow, toRow } from '@weir/config-model';
import { copyLine, FixedColumns } from '../../platform/database/copy.js';
import { formatIpv4, formatIpv6 } from '../../resources/networks/addresses/addresses.js';
import { Column, KeyIndex } from './columns.js';

/** The records of the tables. Networks have their host bits. */
export type DraftRecords = Pick<
  Entities,
  'blockPage' | 'domainRule' | 'naptAssignment' | 'ipv4Network' | 'ipv6Network'
> & {
  readonly profile: { readonly id: number };
  readonly applicationRule: ApplicationRuleRecord;
};

/** A rule of an application, which is part of a profile. */
type ApplicationRuleRecord = Entities['profile']['applicationRules'][number] & {
  readonly profileId: number;
};

export type DraftKind = keyof DraftRecords;
export type DraftRecord = DraftRecords[DraftKind];

/** Values of a type of PostgreSQL, in its binary format of COPY and as numbers. */
interface ColumnType {
  readonly bytes: number;
  /** For each number of a value. */
  readonly columns: readonly (() => Column)[];
  /** @param i of the number. */
  readonly read: (bytes: Buffer, at: number, i: number) => number;
  /** For COPY. */
  readonly text: (...numbers: readonly number[]) => string | number;
}

/** An address comes after its family, the length of its mask, whether it is a cidr, and its number of bytes. */
const ADDRESS_AT = 4;
const TWO_TO_32 = 4_294_967_296;
const { int32, uint32, float64 } = Column;

const TYPES = {
  smallint: {
    bytes: 2,
    columns: [int32],
    read: (bytes, at) => bytes.readInt16BE(at),
    text: (value) => value,
  },
  integer: {
    bytes: 4,
    columns: [int32],
    read: (bytes, at) => bytes.readInt32BE(at),
    text: (value) => value,
  },
  /** A bigint of 53 bits at most. */
  domainHash: {
    bytes: 8,
    columns: [float64],
    read: (bytes, at) => bytes.readUInt32BE(at) * TWO_TO_32 + bytes.readUInt32BE(at + 4),
    text: (value) => value,
  },
  ipv4: {
    bytes: 8,
    columns: [uint32],
    read: (bytes, at) => bytes.readUInt32BE(at + ADDRESS_AT),
    text: formatIpv4,
  },
  ipv6: {
    bytes: 20,
    columns: [uint32, uint32, uint32, uint32],
    read: (bytes, at, i) => bytes.readUInt32BE(at + ADDRESS_AT + 4 * i),
    text: (...words) => formatIpv6(words as unknown as Entities['ipv6Network']['address']),
  },
  /** Of a list, which its table keeps besides. */
  sha256: { bytes: 32, columns: [], read: () => 0, text: () => '' },
} as const satisfies Readonly<Record<string, ColumnType>>;

const TID_BYTES = 6;

export interface TableDefinition<K extends DraftKind> {
  readonly kind: K;
  readonly name: string;
  /** What is read of a stored row, by the name or expression of the column. The columns of the key come first. */
  readonly columns: Readonly<Record<string, keyof typeof TYPES>>;
  readonly keyColumns: number;
  /**
   * Whether other tables refer to its `id`. A row with other values is updated then: deleting it would delete theirs.
   */
  readonly isReferred?: boolean;
  /** The numbers of a record, in the order of the columns. By default as config-model has them. */
  toNumbers?(record: DraftRecords[K]): readonly number[];
  fromNumbers?(numbers: readonly number[]): DraftRecords[K];
}

type NumberReader = (stored: Buffer, at: number) => number;

/** A column of a table, as numbers. */
interface TableColumn {
  readonly name: string;
  readonly numbers: readonly Column[];
  readonly reads: readonly NumberReader[];
  readonly text: (row: number) => string | number;
}

/** @param offset where the column begins in a stored row. */
function makeColumn(
  name: string,
  { columns, read, text }: ColumnType,
  offset: number,
): TableColumn {
  const numbers = columns.map((make) => make());
  const reads = columns.map(
    (_, i): NumberReader =>
      (stored, at) =>
        read(stored, at + offset, i),
  );
  const [first] = numbers;
  // Millions of cells are written, nearly all of one number.
  const textAt =
    numbers.length === 1
      ? (row: number) => text(first.at(row))
      : (row: number) => text(...numbers.map((one) => one.at(row)));
  return { name, numbers, reads, text: textAt };
}

/**
 * The rows that a submitted configuration has for one table, in columns of numbers and in the order of the body: a
 * fraction of the memory of their text. Stored rows are compared with them.
 */
export class DraftTable<K extends DraftKind = DraftKind> {
  readonly kind: K;
  readonly name: string;
  readonly isReferred: boolean;
  /** The columns of `line`. */
  readonly columns: string;
  /** What is read of a stored row: its place in the table, then its values. */
  readonly selected: string;
  readonly stored: FixedColumns;
  private readonly tableColumns: readonly TableColumn[];
  private readonly numbers: readonly Column[];
  private readonly reads: readonly NumberReader[];
  private readonly keyReads: readonly NumberReader[];
  /** Finds rows by their keys, once it was filled. */
  readonly keys: KeyIndex;

  constructor(private readonly definition: TableDefinition<K>) {
    const { kind, name, columns, keyColumns, isReferred = false } = definition;
    [this.kind, this.name, this.isReferred] = [kind, name, isReferred];
    this.columns = Object.keys(columns).join(', ');
    this.selected = `ctid, ${this.columns}`;
    const sizes = Object.values(columns).map((type) => TYPES[type].bytes);
    this.stored = new FixedColumns([TID_BYTES, ...sizes]);
    const [, ...offsets] = this.stored.offsets;
    this.tableColumns = Object.entries(columns).map(([column, type], i) =>
      makeColumn(column, TYPES[type], offsets[i]),
    );
    this.numbers = this.tableColumns.flatMap((column) => column.numbers);
    this.reads = this.tableColumns.flatMap((column) => column.reads);
    this.keyReads = this.tableColumns.slice(0, keyColumns).flatMap((column) => column.reads);
    this.keys = new KeyIndex(this.numbers.slice(0, this.keyReads.length));
  }

  /** The number of rows. */
  get count(): number {
    return this.numbers[0].length;
  }

  /** The number of rows that repeat no other. */
  get distinctCount(): number {
    return this.count;
  }

  /** Whether a row repeats an earlier one. */
  isRepeated(_row: number): boolean {
    return false;
  }

  add(record: DraftRecords[K]): void {
    const kind = this.kind as EntityKind;
    const own = this.definition.toNumbers?.(record);
    const numbers = own ?? (toRow(kind, record as never) as number[]);
    for (let i = 0; i < numbers.length; i++) this.numbers[i].push(numbers[i]);
  }

  /** @param row that repeats no other. */
  at(row: number): DraftRecords[K] {
    return this.fromNumbers(this.numbersAt(row));
  }

  protected numbersAt(row: number): number[] {
    const { numbers } = this;
    const values: number[] = [];
    for (let i = 0; i < numbers.length; i++) values.push(numbers[i].at(row));
    return values;
  }

  /** The numbers of a column; of an IPv6 address the first ones. */
  column(name: string): Column {
    const column = this.tableColumns.find((one) => one.name === name);
    if (column === undefined) throw new RangeError(`${this.name} has no column ${name}`);
    return column.numbers[0];
  }

  /** The text for COPY of a row that repeats no other. */
  line(row: number): string {
    return copyLine(...this.tableColumns.map((column) => column.text(row)));
  }

  /** Whether a row is equal to a stored row. */
  isEqual(row: number, stored: Buffer, at: number): boolean {
    const { numbers, reads } = this;
    for (let i = 0; i < reads.length; i++) {
      if (numbers[i].at(row) !== reads[i](stored, at)) return false;
    }
    return true;
  }

  /** The row with the key of a stored row; null: there is none. */
  find(stored: Buffer, at: number): number | null {
    return this.keys.find(...readNumbers(this.keyReads, stored, at));
  }

  /** The record of a stored row. */
  storedRecord(stored: Buffer, at: number): DraftRecords[K] {
    return this.fromNumbers(readNumbers(this.reads, stored, at));
  }

  private fromNumbers(numbers: readonly number[]): DraftRecords[K] {
    const own = this.definition.fromNumbers?.(numbers);
    return own ?? (fromRow(this.kind as EntityKind, numbers) as DraftRecords[K]);
  }
}

function readNumbers(reads: readonly NumberReader[], stored: Buffer, at: number): number[] {
  const numbers: number[] = [];
  for (let i = 0; i < reads.length; i++) numbers.push(reads[i](stored, at));
  return numbers;
}
