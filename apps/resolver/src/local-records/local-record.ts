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
