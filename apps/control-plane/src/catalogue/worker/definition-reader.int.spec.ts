import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startListServer } from '../../testing/list-server.js';
import { DefinitionReader } from './definition-reader.js';

const NEVER = new AbortController().signal;
const category = (name: string) => `categories: [{ id: 1, name: ${name} }]\n`;

describe('DefinitionReader', () => {
  let folder: string;
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-definition-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('parses again when one of the files has another text, and only then', async () => {
    await write('catalogue.yaml', 'include: [more.yaml]\n');
    await write('more.yaml', category('A'));
    const reader = new DefinitionReader({ location: folder, sets: [] });
    const first = await reader.read(NEVER);
    await write('more.yaml', category('A'));
    expect(await reader.read(NEVER)).toBe(first);
    await write('more.yaml', category('B'));
    expect(await reader.read(NEVER)).toMatchObject({ categories: [{ name: 'B' }] });
    await write('catalogue.yaml', category('C'));
    expect(await reader.read(NEVER)).toMatchObject({ included: [], categories: [{ name: 'C' }] });
  });

  it('has read a folder at its start, and asks no URL then', async () => {
    await write('catalogue.yaml', category('A'));
    const reader = new DefinitionReader({ location: folder, sets: [] });
    await reader.start();
    const first = await reader.read(NEVER);
    expect(first).toMatchObject({ categories: [{ name: 'A' }] });
    expect(await reader.read(NEVER)).toBe(first);
    await new DefinitionReader({ location: 'http://127.0.0.1:1', sets: [] }).start();
    await rm(join(folder, 'catalogue.yaml'));
    await expect(new DefinitionReader({ location: folder, sets: [] }).start()).rejects.toThrow(
      'ENOENT',
    );
  });

  it('says what is wrong as long as it is, and reads what is mended', async () => {
    await write('catalogue.yaml', category('A'));
    const reader = new DefinitionReader({ location: folder, sets: [] });
    const first = await reader.read(NEVER);
    await write('catalogue.yaml', 'categories: 1\n');
    for (let i = 0; i < 2; i++) {
      await expect(reader.read(NEVER)).rejects.toThrow('catalogue.yaml:1: categories');
    }
    await rm(join(folder, 'catalogue.yaml'));
    await expect(reader.read(NEVER)).rejects.toThrow('ENOENT');
    await write('catalogue.yaml', category('A'));
    expect(await reader.read(NEVER)).toEqual(first);
  });

  it('ends at once when it is aborted while a URL does not answer', async () => {
    const server = await startListServer();
    try {
      server.serve('/catalogue.yaml', (_request, response) => response.end(category('A')));
      const reader = new DefinitionReader({ location: server.url, sets: [] });
      expect(await reader.read(NEVER)).toMatchObject({ categories: [{ name: 'A' }] });
      const abort = new AbortController();
      server.serve('/catalogue.yaml', () => abort.abort(new Error('stops')));
      await expect(reader.read(abort.signal)).rejects.toThrow('stops');
    } finally {
      await server.stop();
    }
  });
});
