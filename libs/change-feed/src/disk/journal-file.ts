import { type Change, encodeOperation, RowError } from '@weir/config-model';
import { crc32 } from 'node:zlib';
import type { FileThread } from '../files/file-thread.js';
import { readChunks } from '../files/read-chunks.js';
import { readChange } from '../protocol/read-changes.js';
import { readLines } from '../protocol/read-lines.js';
import { Yielder } from '../runtime/yielder.js';

/** Written in less than a millisecond. */
const OPERATIONS_AT_ONCE = 500;
/** Bytes of a line before its JSON. */
const CHECKSUM_BYTES = 9;

/**
 * A change as a line of the journal: the CRC-32 of its JSON in 8 hex digits, a space, the JSON. Does not block the
 * event loop for long, however large the change is.
 */
export async function journalLine(change: Change): Promise<string> {
  const { revision, digest, operations } = change;
  const yielder = new Yielder();
  const line: string[] = [];
  let sum = 0;
  const add = (json: string): void => {
    line.push(json);
    sum = crc32(json, sum);
  };
  add(`${JSON.stringify({ revision, digest }).slice(0, -1)},"operations":[`);
  for (let at = 0; at < operations.length; at += OPERATIONS_AT_ONCE) {
    const some = operations.slice(at, at + OPERATIONS_AT_ONCE).map(encodeOperation);
    add(`${at === 0 ? '' : ','}${JSON.stringify(some).slice(1, -1)}`);
    if (operations.length > OPERATIONS_AT_ONCE) await yielder.yieldIfDue();
  }
  add(']}');
  return `${hex(sum)} ${line.join('')}\n`;
}

/** What a journal holds. */
export interface Journal {
  readonly changes: readonly Change[];
  /** For each change: the offset of the end of its line, in bytes. */
  readonly ends: readonly number[];
  /** False: the journal goes on after the last readable change. */
  readonly isWhole: boolean;
}

/**
 * The changes of a journal up to its end or its first damaged line, such as one cut off when the process was
 * killed.
 */
export async function readJournal(thread: FileThread, path: string): Promise<Journal> {
  const changes: Change[] = [];
  const ends: number[] = [];
  const yielder = new Yielder();
  let end = 0;
  try {
    for await (const line of readLines(readChunks(thread, path))) {
      changes.push(await parseJournalLine(line, yielder));
      end += line.length + 1;
      ends.push(end);
      await yielder.yieldIfDue();
    }
    return { changes, ends, isWhole: true };
  } catch (error) {
    if (error instanceof RowError) return { changes, ends, isWhole: false };
    throw error;
  }
}

/** @throws RowError when the line is damaged. */
function parseJournalLine(line: Uint8Array, yielder: Yielder): Promise<Change> {
  const json = line.subarray(CHECKSUM_BYTES);
  const sum = Buffer.from(line.subarray(0, CHECKSUM_BYTES)).toString('latin1');
  if (sum !== `${hex(crc32(json))} `) throw new RowError('a line without its checksum');
  return readChange(json, yielder);
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}
