import { type Change, decodeChange, encodeChange, RowError } from '@weir/config-model';
import { crc32 } from 'node:zlib';
import type { FileThread } from '../files/file-thread.js';
import { readChunks } from '../files/read-chunks.js';

/** A change as a line of the journal: the CRC-32 of its JSON in 8 hex digits, a space, the JSON. */
export function journalLine(change: Change): string {
  const json = JSON.stringify(encodeChange(change));
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
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
  const bytes = Buffer.concat(await Array.fromAsync(readChunks(thread, path)));
  const lines = bytes.toString('utf8').split('\n');
  const rest = lines.pop();
  const changes: Change[] = [];
  const ends: number[] = [];
  let end = 0;
  for (const line of lines) {
    const change = parseJournalLine(line);
    if (change === null) return { changes, ends, isWhole: false };
    end += Buffer.byteLength(line) + 1;
    changes.push(change);
    ends.push(end);
  }
  return { changes, ends, isWhole: rest === '' };
}

function parseJournalLine(line: string): Change | null {
  const json = line.slice(9);
  if (line.slice(0, 8) !== crc32(json).toString(16).padStart(8, '0')) return null;
  try {
    return decodeChange(JSON.parse(json));
  } catch (error) {
    if (error instanceof RowError || error instanceof SyntaxError) return null;
    throw error;
  }
}
