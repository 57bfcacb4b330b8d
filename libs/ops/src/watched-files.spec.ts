import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WatchedFiles, type WatchedFilesOptions } from './watched-files.js';

const CHECK_MS = 20;

describe('WatchedFiles', () => {
  let folder = '';
  let options: WatchedFilesOptions<string>;
  let watched: WatchedFiles<string>;
  let file = '';
  let logged: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-watched-'));
    file = join(folder, 'names');
    writeFileSync(file, 'first');
    // Its own for each test: a check of the test before may still end.
    const lines: string[] = [];
    logged = lines;
    const log = {
      info: (_: object, text: string) => lines.push(text),
      warn: (_: object, text: string) => lines.push(text),
    };
    const parse = (text: string) => text;
    const files = [{ variable: 'NAMES', path: file }];
    options = { files, content: 'the names', maxBytes: 100, parse, log, checkMs: CHECK_MS };
    watched = new WatchedFiles(options);
  });
  afterEach(() => {
    watched.close();
    rmSync(folder, { recursive: true });
  });

  it('uses a changed file when nobody writes to it any more', async () => {
    const end = performance.now() + 15 * CHECK_MS;
    // Each turn of the event loop writes another text, so that no two reads give the same.
    for (let turn = 0; performance.now() < end; turn++) {
      writeFileSync(file, `half ${turn}`);
      await nextTurn();
      expect(watched.value).toBe('first');
    }
    writeFileSync(file, 'second');
    await expect.poll(() => watched.value).toBe('second');
    expect(logged).toEqual(['a new version of the names is in force']);
  });

  it('skips the byte order mark that editors of Windows write', async () => {
    writeFileSync(file, '\ufefffirst');
    const marked = new WatchedFiles(options);
    expect(marked.value).toBe('first');
    marked.close();
    writeFileSync(file, '\ufeffsecond');
    await expect.poll(() => watched.value).toBe('second');
  });

  it('keeps the value while the file cannot be used, and logs that once', async () => {
    writeFileSync(file, 'x'.repeat(101));
    await expect.poll(() => watched.faults).toBeGreaterThan(1);
    expect(watched.value).toBe('first');
    expect(logged).toEqual(['the names were not replaced']);
  });
});
