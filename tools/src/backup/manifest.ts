import { StartError } from '@weir/ops';

/** The first line of a backup: what it is of. */
export interface Manifest {
  readonly format: 'weir-backup';
  readonly version: 1;
  /** ISO 8601. */
  readonly madeAt: string;
  /** The head of the change log at that moment. */
  readonly revision: number;
  readonly digest: string;
  readonly lineage: string;
  /** Hash of a fixed name under the deployment's DOMAIN_HASH_KEY; null: not noted yet. */
  readonly domainHashCheck: string | null;
  /** The version of the schema, in the order of their names. */
  readonly migrations: readonly AppliedMigration[];
}

export interface AppliedMigration {
  readonly name: string;
  /** sha256 of its file. */
  readonly checksum: string;
}

/** Begins the rows of a table, which follow as lines of COPY's text format up to a line `\.`. */
export interface Section {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The last line. */
export interface Trailer {
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

const FORMAT = { format: 'weir-backup', version: 1 } as const;

export function createManifest(of: Omit<Manifest, keyof typeof FORMAT>): Manifest {
  return { ...FORMAT, ...of };
}

/** @throws StartError when the line does not begin a backup that this release reads. */
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

/** A section, or the trailer behind the last one. @throws StartError when the line is neither. */
export function parseSection(line: string): Section | Trailer {
  const value = parse(line) as Partial<Section & Trailer> | null;
  if (value !== null && ('columns' in value || 'rows' in value)) return value as Section | Trailer;
  throw new StartError('it is damaged: a line is neither a table nor the end');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // as anything else that is not what it should be
  }
}
