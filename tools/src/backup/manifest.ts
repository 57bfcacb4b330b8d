import { StartError } from '@weir/ops';

/** The first line of a backup: what it contains. */
export interface Manifest {
  readonly format: 'weir-backup';
  readonly version: 1;
  /** ISO 8601. */
  readonly madeAt: string;
  /** The head of the change log at that time. */
  readonly revision: number;
  readonly digest: string;
  readonly lineage: string;
  /** Hash of a fixed name with the deployment's DOMAIN_HASH_KEY; null: not stored yet. */
  readonly domainHashCheck: string | null;
  /** The migrations of the schema, sorted by name. */
  readonly migrations: readonly AppliedMigration[];
}

export interface AppliedMigration {
  readonly name: string;
  /** SHA-256 of its file. */
  readonly checksum: string;
}

/** The line before the rows of a table. The rows follow in the text format of COPY, up to a line `\.`. */
export interface Section {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The last line. */
export interface Trailer {
  /** Number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

const FORMAT = { format: 'weir-backup', version: 1 } as const;

export function createManifest(of: Omit<Manifest, keyof typeof FORMAT>): Manifest {
  return { ...FORMAT, ...of };
}

/** @throws StartError when the line is not the start of a backup that this release can read. */
export function parseManifest(line: string): Manifest {
  const value = parse(line) as Partial<Manifest> | null;
  if (value?.format !== FORMAT.format) throw new StartError('it is no backup of Weir');
  if (value.version !== FORMAT.version) {
    throw new StartError(
      `it has version ${String(value.version)} of the format: use a newer release`,
    );
  }
  return value as Manifest;
}

/** Parses a section, or the trailer after the last one. @throws StartError when the line is neither. */
export function parseSection(line: string): Section | Trailer {
  const value = parse(line) as Partial<Section & Trailer> | null;
  if (value !== null && ('columns' in value || 'rows' in value)) return value as Section | Trailer;
  throw new StartError('it is damaged: a line is neither a table nor the end');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // handled like any other line with wrong content
  }
}
