import { type Change, encodeChange, type Operation } from '@weir/config-model';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileThread } from '../files/file-thread.js';
import { turnsDuring } from '../testing/turns-during.js';
import { journalLine, readJournal } from './journal-file.js';

const changeOf = (revision: number, rules: number): Change => ({
  revision,
  digest: '0123456789abcdef',
  operations: Array.from({ length: rules }, (_, domainHash): Operation => {
    const entity = { profileId: 1, domainHash, verdict: 2 } as const;
    return { type: 'put', kind: 'domainRule', entity };
  }),
});
const CHANGES = [0, 1, 499, 500, 501, 1_000, 3_333].map((rules, i) => changeOf(i, rules));

describe('the journal', () => {
  let folder: string;
  let files: FileThread;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-journal-'));
    files = new FileThread({ patienceMs: 60_000 });
  });
  afterEach(async () => {
    await files.close();
    rmSync(folder, { recursive: true });
  });
  const read = async (text: string) => {
    const path = join(folder, 'journal');
    writeFileSync(path, text);
    return readJournal(files, path);
  };

  it('has a line of checksum and JSON for a change of any size', async () => {
    for (const change of CHANGES) {
      const json = JSON.stringify(encodeChange(change));
      const sum = crc32(json).toString(16).padStart(8, '0');
      expect(await journalLine(change)).toBe(`${sum} ${json}\n`);
    }
  });

  it('is read up to its first damaged line', async () => {
    const lines = await Promise.all(CHANGES.map(journalLine));
    const whole = lines.join('');
    expect(await read(whole)).toMatchObject({ changes: CHANGES, isWhole: true });
    const some = lines.slice(0, 4).join('');
    for (const rest of [lines[4].slice(0, -1), lines[4].replace('put', 'pet'), 'x\n', '\n']) {
      const journal = await read(some + rest);
      expect(journal).toMatchObject({ changes: CHANGES.slice(0, 4), isWhole: false });
      expect(journal.ends.at(-1)).toBe(some.length);
    }
  });

  it('leaves the event loop to others while a large change is written and read', async () => {
    const writing = journalLine(changeOf(1, 200_000));
    expect(await turnsDuring(writing)).toBeGreaterThan(5);
    expect(await turnsDuring(read(await writing))).toBeGreaterThan(5);
  });
});
