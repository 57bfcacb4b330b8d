import fc from 'fast-check';
import { connect, constants } from 'node:http2';
import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readFrames } from '../../../testing/http2-frames.js';
import { encodeHpack, HpackDecoder } from './hpack.js';

type Field = [name: string, value: string];

/** Decodes blocks in turn with one decoder. @returns null when a block is wrong */
function decode(...blocks: readonly Uint8Array[]): Field[] | null {
  const decoder = new HpackDecoder();
  let fields: Field[] = [];
  for (const block of blocks) {
    fields = [];
    const sink = { field: (name: string, value: string) => void fields.push([name, value]) };
    if (!decoder.decode(Buffer.from(block), sink)) return null;
  }
  return fields;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('HpackDecoder', () => {
  const common: Field[] = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ];
  const last: Field[] = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ];

  it.each([
    [
      'as they are (RFC 7541 C.3)',
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ],
    [
      'in Huffman code (C.4)',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ],
  ])('decodes the examples of three requests, strings %s', (_how, first, second, third) => {
    expect(decode(hex(first))).toEqual(common);
    expect(decode(hex(first), hex(second))).toEqual([...common, ['cache-control', 'no-cache']]);
    expect(decode(hex(first), hex(second), hex(third))).toEqual(last);
  });

  it('decodes what nghttp2 encodes, whatever the values, and however often they come again', async () => {
    const value = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)) }),
      fc.constantFrom('', 'application/dns-message', 'a'.repeat(300)),
    );
    const name = fc.oneof(
      fc.constantFrom('accept', 'user-agent', 'x-a'),
      fc.stringMatching(/^[a-z][a-z-]{0,20}$/).map((text) => `x${text}`),
    );
    const requests = fc.array(fc.dictionary(name, value, { maxKeys: 8 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const decoder = new HpackDecoder();
        const blocks = await blocksOf(sent);
        expect(blocks).toHaveLength(sent.length);
        for (const [i, block] of blocks.entries()) {
          const fields: Record<string, string> = {};
          const sink = { field: (key: string, text: string) => void (fields[key] = text) };
          expect(decoder.decode(block, sink)).toBe(true);
          expect(fields).toMatchObject({ ':path': '/', ...sent[i] });
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['an index of 0', '80'],
    ['an index behind the table', 'be'],
    ['a name behind the table', '7e 01 61'],
    ['a string that does not end', '40 0a 61'],
    ['a field without a value', '40 01 61'],
    ['an integer that does not end', 'ff ff ff ff ff ff'],
    ['a table of more than 4,096 bytes', '3f e2 1f'],
    ['a new size of the table after a field', '82 20'],
    ['Huffman code with EOS in it', '40 84 ff ff ff ff 01 61'],
    ['Huffman code with padding of a byte', '40 82 1f ff 01 61'],
    ['Huffman code with zeros as padding', '40 81 18 01 61'],
  ])('refuses %s', (_what, block) => {
    expect(decode(hex(block))).toBeNull();
  });

  it('empties its table for an entry that is larger, and when its size becomes 0', () => {
    const entry = Buffer.concat([hex('40 01 61 01'), Buffer.from('b')]);
    const large = Buffer.concat([hex('40 01 61 7f 81 1f'), Buffer.alloc(4_096, 'b')]);
    expect(decode(entry, hex('be'))).toEqual([['a', 'b']]);
    expect(decode(entry, large, hex('be'))).toBeNull();
    expect(decode(entry, hex('20 82'), hex('be'))).toBeNull();
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (blocks) => {
        const fields = decode(...blocks);
        expect(fields === null || Array.isArray(fields)).toBe(true);
      }),
    );
  });
});

describe('encodeHpack', () => {
  it.each([200, 400, 404, 405, 413, 415, 429, 500])(
    'encodes an answer with status %i',
    (status) => {
      const headers = {
        'content-type': 'application/dns-message',
        'content-length': '65535',
        'cache-control': 'private, max-age=2147483647',
        allow: 'GET, POST',
      };
      const target = Buffer.alloc(256);
      const length = encodeHpack(status, headers, target);
      const expected = [[':status', String(status)], ...Object.entries(headers)];
      expect(decode(target.subarray(0, length))).toEqual(expected);
    },
  );
});

/** The header blocks that the HTTP/2 client of Node sends for these requests. */
async function blocksOf(requests: readonly Record<string, string>[]): Promise<Buffer[]> {
  const [ours, theirs] = duplexPair();
  const session = connect('http://dns.example.com', { createConnection: () => theirs });
  session.on('error', () => undefined);
  let received = Buffer.alloc(0);
  const read = new Promise<Buffer[]>((resolve) => {
    ours.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const blocks = readFrames(received.subarray(24)).filter(({ type }) => type === 1);
      if (blocks.length === requests.length) resolve(blocks.map(({ payload }) => payload));
    });
  });
  for (const headers of requests) {
    session.request({ ':path': '/', ...headers }).on('error', () => undefined);
  }
  const blocks = await read;
  session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
  ours.destroy();
  return blocks;
}
