import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NameList } from '../names/name-list.js';
import { chunksOf, expectNames, KEY, read, tarArchive, tarEntry } from './testing/lists.js';
import { DEFAULT_LIMITS } from './list.js';
import { readNames } from './read-names.js';

const MIB = 1024 * 1024;

describe('readNames', () => {
  it('reads gzip and plain text, which it tells apart by the first bytes', async () => {
    const packed = gzipSync('a.example\nb.example\n');
    await expectNames(packed, 'domains', ['a.example', 'b.example']);
    await expectNames(Buffer.concat([packed, gzipSync('c.example')]), 'domains', [
      'a.example',
      'b.example',
      'c.example',
    ]);
  });

  it('reads an empty list', async () => {
    expect(await expectNames('', 'domains', [])).toMatchObject({ lines: 0, domains: 0 });
    await expectNames(gzipSync(''), 'domains', []);
  });

  it('accepts line ends of any system, a byte order mark and a last line without a line end', async () => {
    await expectNames('\ufeffa.example\r\nb.example\r\n\r\nc.example', 'domains', [
      'a.example',
      'b.example',
      'c.example',
    ]);
  });

  const SUFFIXES = [
    'com',
    'UK.',
    'co.uk',
    'Co.Uk.',
    'foo.ck',
    'xn--p1ai',
    'xn--55qx5d.cn',
    '公司.cn',
  ];

  it.each([
    ['domains', (name: string) => name],
    ['hosts', (name: string) => `0.0.0.0 ${name}`],
    ['adblock', (name: string) => `||${name}^`],
    ['rpz', (name: string) => `*.${name} CNAME .`],
    ['ut1', (name: string) => name],
  ] as const)('refuses public suffixes in a list of format %s', async (format, entry) => {
    const names = ['a.example', ...SUFFIXES, 'www.ck', 'bbc.co.uk', 'github.io'];
    const taken = ['a.example', 'www.ck', 'bbc.co.uk', 'github.io'];
    const report = await expectNames(names.map(entry).join('\n'), format, taken);
    // A hosts file may name hosts of the local network, which have no dot.
    const suffixes = format === 'hosts' ? SUFFIXES.length - 2 : SUFFIXES.length;
    expect(report).toMatchObject({ domains: 4, invalidLines: suffixes });
    expect(report.examples).toContainEqual({ line: 4, problem: 'is a public suffix such as com' });
  });

  it('tells which names would block a domain of never_block: that one, its parents, all below', async () => {
    const list =
      'example\na.example\nportal.a.example\nx.portal.a.example\nother.a.example\nb.example\n';
    const never = { neverBlock: ['portal.a.example'] };
    const bytes = chunksOf(Buffer.from(list));
    const { names, protectedNames, protectedLines } = await readNames(bytes, 'domains', KEY, never);
    const taken = NameList.of(['other.a.example', 'b.example'], KEY);
    expect(names.count).toBe(5);
    expect(names.without(protectedNames).words).toEqual(taken.words);
    const problem = 'would block portal.a.example of never_block';
    expect(protectedLines).toEqual([2, 3, 4].map((line) => ({ line, problem })));
  });

  it.each([
    ['plain', Buffer.from('a.example\n')],
    ['gzip', gzipSync('a.example\n')],
    ['an archive', gzipSync(tarArchive(tarEntry('x/domains', 'a.example\n')))],
  ])('takes a list of the pinned digest only, %s', async (_, list) => {
    const sha256 = createHash('sha256').update(list).digest('hex');
    const pinned = (bytes: Uint8Array) => readNames(chunksOf(bytes), 'ut1', KEY, { sha256 });
    expect((await pinned(list)).names.count).toBe(1);
    const changed = [
      Buffer.concat([list, Buffer.from('x')]),
      list.subarray(0, -1),
      Buffer.from(''),
    ];
    for (const bytes of changed) {
      await expect(pinned(bytes)).rejects.toThrow(/^(has the sha256 [0-9a-f]{64}, not the |is )/);
    }
    const other = readNames(chunksOf(Buffer.from('b.example\n')), 'ut1', KEY, { sha256 });
    await expect(other).rejects.toThrow(`not the ${sha256} of its definition`);
  });

  it('counts text that is not UTF-8 as invalid lines', async () => {
    const latin1 = Buffer.from('bücher.example\na.example\n', 'latin1');
    const report = await expectNames(latin1, 'domains', ['a.example']);
    expect(report.examples).toEqual([{ line: 1, problem: 'is not UTF-8 text' }]);
  });

  it.each([
    ['little-endian', Buffer.from('\ufeffa.example\n', 'utf16le')],
    ['big-endian', Buffer.from('\ufeffa.example\n', 'utf16le').swap16()],
  ])('refuses UTF-16, %s', async (_, bytes) => {
    await expect(read(bytes, 'domains')).rejects.toThrow(/^is UTF-16, must be UTF-8$/);
  });

  it('counts a line that is too long as invalid, and continues', async () => {
    const list = `a.example\n${'x'.repeat(200)}\nb.example\n${'y'.repeat(200)}`;
    const { names, report } = await read(list, 'domains', { maxLineBytes: 100 });
    expect(names.count).toBe(2);
    expect(report).toMatchObject({ lines: 4, domains: 2, invalidLines: 2 });
    expect(report.examples[0]).toEqual({ line: 2, problem: 'is longer than 100 bytes' });
  });

  it('needs no memory for a line of a gigabyte', async () => {
    const chunk = new Uint8Array(MIB).fill(0x61);
    // oxlint-disable-next-line typescript/require-await -- a stream of what is there already
    async function* line(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 1024; i++) yield chunk;
      yield Buffer.from('\nb.example\n');
    }
    const before = process.memoryUsage().arrayBuffers;
    const limits = { ...DEFAULT_LIMITS, maxBytes: 2048 * MIB };
    const { names, report } = await readNames(line(), 'domains', KEY, { limits });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MIB);
    expect([names.count, report.invalidLines]).toEqual([1, 1]);
  });

  it('refuses more bytes than the limit, compressed and decompressed', async () => {
    await expect(read('a.example\n'.repeat(20), 'domains', { maxBytes: 199 })).rejects.toThrow(
      /^is larger than 199 bytes$/,
    );
    const bomb = gzipSync(Buffer.alloc(64 * MIB));
    expect(bomb.length).toBeLessThan(100_000);
    const bytes = chunksOf(bomb, 10_000);
    const limits = { ...DEFAULT_LIMITS, maxUnpackedBytes: MIB };
    await expect(readNames(bytes, 'domains', KEY, { limits })).rejects.toThrow(
      /^is larger than 1048576 bytes unpacked$/,
    );
    // It stopped early: most of the packed bytes were never asked for.
    expect((await bytes.next()).done).toBe(true);
  });

  it('refuses more names than the limit', async () => {
    const list = 'a.example\nb.example\nc.example\n';
    await expect(read(list, 'domains', { maxNames: 2 })).rejects.toThrow(
      /^lists more than 2 names$/,
    );
    expect((await read(list, 'domains', { maxNames: 3 })).names.count).toBe(3);
  });

  it('refuses gzip that is incomplete or invalid', async () => {
    const packed = gzipSync(Array.from({ length: 1000 }, (_, n) => `d${n}.example`).join('\n'));
    await expect(read(packed.subarray(0, -20), 'domains')).rejects.toThrow(
      /^is not valid gzip: unexpected end of file$/,
    );
    packed[200] ^= 0xff;
    await expect(read(packed, 'domains')).rejects.toThrow(/^is not valid gzip: /);
  });

  it('takes a list that only begins like bzip2', async () => {
    expect((await read('BZhotel.example\n', 'domains')).names.count).toBe(1);
  });

  it.each([
    ['zip', 'PK\x03\x04'],
    ['bzip2', 'BZh91AY'],
    ['xz', '\xfd7zXZ'],
  ])('names the format of a list that is compressed with %s', async (name, begin) => {
    let isClosed = false;
    // oxlint-disable-next-line typescript/require-await -- a stream of what is there already
    async function* list(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from(`${begin}${'x'.repeat(100)}`, 'latin1');
      } finally {
        isClosed = true;
      }
    }
    await expect(readNames(list(), 'domains', KEY)).rejects.toThrow(
      `is packed with ${name}; gzip and plain text can be read`,
    );
    expect(isClosed).toBe(true);
  });

  it('throws the error of the stream', async () => {
    // oxlint-disable-next-line typescript/require-await -- a stream of what is there already
    async function* broken(first: Uint8Array): AsyncGenerator<Uint8Array> {
      yield first;
      throw new Error('the line is down');
    }
    const gzip = gzipSync('a.example\n'.repeat(1000)).subarray(0, 20);
    for (const first of [gzip, Buffer.from('a.example\n')]) {
      await expect(readNames(broken(first), 'ut1', KEY)).rejects.toThrow('the line is down');
    }
  });
});
