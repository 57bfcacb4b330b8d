import { readDefinition } from '@weir/catalogue';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runInThread } from './worker-thread.js';

describe('a definition that is read in a thread', () => {
  let folder: string;
  const define = (text: string) => writeFile(join(folder, 'catalogue.yaml'), text);
  const { signal } = new AbortController();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-definition-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives what readDefinition gives', async () => {
    await define(`
      categories:
        - { id: 1, name: A, domains: [a.example] }
        - { id: 2, name: B, sources: [{ file: b.txt, format: domains }] }
    `);
    const { definition } = await runInThread('definition', { location: folder, sets: [] }, signal);
    expect(definition).toEqual(await readDefinition(folder));
  });

  it('rejects with the fault of a definition that cannot be used', async () => {
    await define('categories: [{ id: -1, name: A }]\n');
    const expected = await readDefinition(folder).catch((error: unknown) => error);
    await expect(runInThread('definition', { location: folder, sets: [] }, signal)).rejects.toThrow(
      expected,
    );
  });

  it('ends when it is aborted', async () => {
    await define('categories: []\n');
    const abort = new AbortController();
    const read = runInThread('definition', { location: folder, sets: [] }, abort.signal);
    abort.abort(new Error('stops'));
    await expect(read).rejects.toThrow('stops');
  });
});
