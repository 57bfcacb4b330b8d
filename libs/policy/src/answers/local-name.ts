/** A record of class IN. Names are wire names in lower case. */
export interface LocalRecord {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly rdata: Uint8Array;
}

/** A file with more records is refused. It is read in less than half a second; no query is forwarded meanwhile. */
export const MAX_RECORDS = 1000;

/** An error that names the line of the file. */
export function faultAt(line: number, problem: string): Error {
  return new Error(`line ${line}: ${problem}`);
}

/** The records of one name and type. */
export interface RecordSet {
  readonly type: number;
  readonly ttlSeconds: number;
  readonly rdatas: readonly Uint8Array[];
}

/** A CNAME record. */
export interface Link {
  /** A wire name; null: the queried name. */
  readonly owner: Uint8Array | null;
  readonly ttlSeconds: number;
  /** A wire name. */
  readonly target: Uint8Array;
}

/** The CNAME records that lead from the queried name to another one. */
export interface Rewrite {
  /** Each leads to the next one. */
  readonly links: readonly Link[];
  /** The wire name that the last of them leads to. */
  readonly target: Uint8Array;
}

/** A name with records of its own. */
export interface LocalName {
  readonly sets: readonly RecordSet[];
  /** TTL of the answer that there are no records of a type. */
  readonly negativeTtlSeconds: number;
  /** Where its CNAME record leads to. Null: it has none. Set once all names are known. */
  rewrite: LocalRewrite | null;
}

export interface LocalRewrite extends Rewrite {
  /** The target, when it has records of its own. Null: it is resolved like a query for it. */
  readonly end: LocalName | null;
}

/** The records of that type, or null. Allocates nothing. */
export function findSet({ sets }: LocalName, type: number): RecordSet | null {
  for (let i = 0; i < sets.length; i++) if (sets[i].type === type) return sets[i];
  return null;
}
