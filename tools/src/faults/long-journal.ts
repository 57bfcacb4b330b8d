import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { WeirProcess } from '../deployment/weir-process.js';

const JOURNAL_BYTES = 30_000_000;
/** So many bytes of changes since the snapshot: some of them are of keys that are asked for. */
const LEAST_BYTES = 20_000;
const FILLED_DEADLINE_MS = 20_000;
/** Before the JSON of a line: its checksum and a space. */
const CHECKSUM_BYTES = 9;
/** Rules of this profile are put and deleted again. */
const PROFILE = 900;

/**
 * Kills a resolver and makes its journal 30 MB long. Its changes, and the digests they lead to, stay the same: each of
 * them also puts some rules and deletes them.
 * @param folder its data
 */
export async function killWithLongJournal(
  resolver: Pick<WeirProcess, 'kill'>,
  folder: string,
): Promise<void> {
  const journal = join(folder, 'journal');
  const deadlineMs = performance.now() + FILLED_DEADLINE_MS;
  // A snapshot may just have taken its place.
  while ((await stat(journal)).size < LEAST_BYTES && performance.now() < deadlineMs)
    await sleep(50);
  await resolver.kill();
  const lines = (await readFile(journal, 'utf8')).split('\n');
  // What is behind the last line feed was cut off by the kill.
  lines.pop();
  // A snapshot has just taken its place: it is a start without a journal.
  if (lines.length === 0) return;
  const padding = rulesForNothing(JOURNAL_BYTES / lines.length);
  const file = await open(journal, 'w');
  for (const line of lines) await file.write(withOperations(line, padding));
  await file.close();
}

/** Operations, separated by commas. */
function rulesForNothing(bytes: number): string {
  const puts: string[] = [];
  const deletes: string[] = [];
  for (let length = 0, hash = 1_000_000_000; length < bytes; hash++) {
    const [put, remove] = [
      `["put","domainRule",[${PROFILE},${hash},2]]`,
      `["delete","domainRule",[${PROFILE},${hash}]]`,
    ];
    puts.push(put);
    deletes.push(remove);
    length += put.length + remove.length + 2;
  }
  return [...puts, ...deletes].join();
}

/** A line of the journal with more operations at its end. */
function withOperations(line: string, operations: string): string {
  const json = line.slice(CHECKSUM_BYTES, -']}'.length);
  const longer = `${json}${json.endsWith('[') ? '' : ','}${operations}]}`;
  return `${crc32(longer).toString(16).padStart(8, '0')} ${longer}\n`;
}
