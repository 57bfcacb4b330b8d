import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListFormat } from '../lists/list.js';
import { CatalogueError } from '../catalogue-error.js';
import { openSource, tryMirrors } from './open-source.js';
import type { OpenedSource, OpenOptions } from './source.js';

const LIMITS = { maxBytes: 1000, timeoutMs: 1000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-sources-'));
});
afterEach(() => rm(folder, { recursive: true }));

function open(
  file: string,
  format: ListFormat = 'domains',
  options: Partial<OpenOptions> = {},
): Promise<OpenedSource> {
  const location = { path: join(folder, file) };
  const list = format === 'dlc' ? 'google' : null;
  const source = { location, mirrors: [], format, list, sha256: null };
  return openSource(source, { ...LIMITS, ...options });
}

async function read(opened: OpenedSource): Promise<string> {
  if (opened.status === 'unchanged') throw new Error('unchanged');
  return Buffer.concat(await Array.fromAsync(opened.body)).toString();
}

describe('openSource of a file', () => {
  it('reads a file, and returns unchanged until the file changes', async () => {
    await writeFile(join(folder, 'l'), 'a.example\n');
    const first = await open('l');
    expect(await read(first)).toBe('a.example\n');
    const { etag } = first as { etag: string };
    expect(await open('l', 'domains', { etag })).toEqual({ status: 'unchanged' });
    await utimes(join(folder, 'l'), 1, 1);
    expect(await read(await open('l', 'domains', { etag }))).toBe('a.example\n');
  });

  it('refuses a path that is not a file, and a file larger than the limit', async () => {
    await expect(open('absent')).rejects.toThrow(/^cannot be read: ENOENT$/);
    await expect(open('.')).rejects.toThrow(/^is not a file$/);
    await expect(open('/dev/../../dev/null')).rejects.toThrow();
    await writeFile(join(folder, 'l'), 'x'.repeat(1001));
    await expect(open('l').then(read)).rejects.toThrow(/^is larger than 1000 bytes$/);
  });
});

describe('openSource of a ut1 folder', () => {
  it('reads the domains file in it, and those one level below', async () => {
    await mkdir(join(folder, 'adult'));
    await writeFile(join(folder, 'adult', 'domains'), 'a.example');
    await writeFile(join(folder, 'adult', 'urls'), 'u.example');
    expect(await read(await open('adult', 'ut1'))).toBe('a.example');
    await mkdir(join(folder, 'more'));
    await writeFile(join(folder, 'more', 'domains'), 'b.example');
    await writeFile(join(folder, 'README'), 'no list');
    const both = await open('.', 'ut1');
    expect(await read(both)).toBe('a.example\nb.example\n');
    const { etag } = both as { etag: string };
    expect(await open('.', 'ut1', { etag })).toEqual({ status: 'unchanged' });
    await utimes(join(folder, 'more', 'domains'), 1, 1);
    expect((await open('.', 'ut1', { etag })).status).toBe('opened');
  });

  it('reads an archive too, and refuses a folder without a domains file', async () => {
    await writeFile(join(folder, 'adult.tar.gz'), 'packed');
    expect(await read(await open('adult.tar.gz', 'ut1'))).toBe('packed');
    await expect(open('.', 'ut1')).rejects.toThrow(/^is a folder without a file domains$/);
    await expect(open('.', 'domains')).rejects.toThrow(/^is not a file$/);
  });
});

describe('openSource of a dlc folder', () => {
  it.each(['data', '.'])(
    'reads one of the lists in its %s, with what it includes',
    async (inner) => {
      await mkdir(join(folder, inner), { recursive: true });
      await writeFile(join(folder, inner, 'google'), 'google.example\ninclude:youtube\n');
      await writeFile(join(folder, inner, 'youtube'), 'youtube.example @ads # videos\n');
      const opened = await open('.', 'dlc');
      expect(await read(opened)).toBe('google.example\nyoutube.example @ads');
      const { etag } = opened as { etag: string };
      expect(await open('.', 'dlc', { etag })).toEqual({ status: 'unchanged' });
      await utimes(join(folder, inner, 'youtube'), 1, 1);
      expect((await open('.', 'dlc', { etag })).status).toBe('opened');
    },
  );

  it('finds its lists in any case', async () => {
    await writeFile(join(folder, 'Google'), 'include:YouTube\n');
    await writeFile(join(folder, 'YouTube'), 'youtube.example\n');
    expect(await read(await open('.', 'dlc'))).toBe('youtube.example');
  });

  it('reads an archive too, and refuses a folder without the list', async () => {
    await writeFile(join(folder, 'lists.tar.gz'), 'packed');
    expect(await read(await open('lists.tar.gz', 'dlc'))).toBe('packed');
    await expect(open('.', 'dlc').then(read)).rejects.toThrow(/^has no list google$/);
  });
});

describe('tryMirrors', () => {
  const [first, second] = [{ url: 'https://a.example/' }, { url: 'https://b.example/' }];
  const source = { location: first, mirrors: [second] };
  const failing =
    (...locations: object[]) =>
    (location: { url: string }) =>
      locations.includes(location)
        ? Promise.reject(new CatalogueError(`cannot be read at ${location.url}`))
        : Promise.resolve(location.url);

  it('takes the first location that can be read', async () => {
    const attempt = failing(first) as Parameters<typeof tryMirrors<string>>[1];
    expect(await tryMirrors(source, attempt)).toBe('https://b.example/');
    const told = await tryMirrors(source, async (location, problem) => {
      await attempt(location, problem);
      return problem;
    });
    expect(told).toBe('cannot be read at https://a.example/');
  });

  it('tells what is wrong with each of them', async () => {
    const attempt = failing(first, second) as Parameters<typeof tryMirrors<string>>[1];
    await expect(tryMirrors(source, attempt)).rejects.toThrow(
      /^cannot be read at https:\/\/a\.example\/; a mirror cannot be read at https:\/\/b\.example\/$/,
    );
  });
});
