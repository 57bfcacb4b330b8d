import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { JsonLists, JsonSizeError, JsonSyntaxError } from './json-lists.js';

/** Reads a text in chunks, and puts the lists back into the body. */
function read(text: string | Uint8Array, pieceBytes = 7): unknown {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const lists = new Map<string, unknown[]>();
  const nested = new Map<string, unknown[]>();
  const reader = new JsonLists(
    { long: 'domains' },
    {
      values: (key, first, values) => {
        const list = first === 0 ? [] : (lists.get(key) ?? []);
        expect(first).toBe(list.length);
        lists.set(key, [...list, ...values]);
      },
      nestedValues: (key, at, first, values) => {
        const list = first === 0 ? [] : (nested.get(`${key} ${at}`) ?? []);
        expect(first).toBe(list.length);
        nested.set(`${key} ${at}`, [...list, ...values]);
      },
      repeatedField: (path) => expect.unreachable(`${path.join('.')} has none`),
    },
  );
  for (let i = 0; i < bytes.length; i += pieceBytes) reader.push(bytes.subarray(i, i + pieceBytes));
  const outside = reader.end() as Record<string, unknown>;
  for (const [key, values] of lists) outside[key] = values;
  for (const [name, values] of nested) {
    const [key, at] = name.split(' ') as [string, string];
    (lists.get(key)![Number(at)] as Record<string, unknown>)['domains'] = values;
  }
  return outside;
}

const json = fc.jsonValue({ depthSize: 'small' });
const body = fc.dictionary(
  fc.constantFrom('a', 'b', 'long', '\u00fc"\\'),
  fc.oneof(
    json,
    fc.array(json),
    fc.array(fc.record({ profile_id: json, domains: fc.oneof(json, fc.array(json)), more: json })),
  ),
);
const spaces = fc.constantFrom(undefined, 1, '\t');

describe('JsonLists', () => {
  it('accepts what JSON.parse accepts, for any split of the bytes', () => {
    fc.assert(
      fc.property(body, spaces, fc.integer({ min: 1, max: 50 }), (value, space, pieceBytes) => {
        const text = JSON.stringify(value, null, space);
        expect(read(text, pieceBytes)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it.each(['[', '{"a":'])('reads values of any depth: %s', (opening) => {
    const depth = 100_000;
    const closing = opening === '[' ? ']' : '}';
    const text = `{"list": [${opening.repeat(depth)}1${closing.repeat(depth)}]}`;
    let [value] = (read(text, 4_096) as { list: unknown[] }).list;
    for (let i = 0; i < depth; i++) [value] = Object.values(value as object) as unknown[];
    expect(value).toBe(1);
  });

  it('rejects exactly what JSON.parse rejects', () => {
    const broken = fc
      .tuple(body, fc.nat(), fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '1', ' ', '\\'))
      .map(([value, at, extra]) => {
        const text = JSON.stringify(value);
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + extra + text.slice(cut + (at % 2));
      });
    fc.assert(
      fc.property(broken, (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => read(text)).toThrow(JsonSyntaxError);
          return;
        }
        // The sink handles duplicate names.
        if (JSON.stringify(expected).length < text.length) return;
        expect(read(text)).toEqual(expected);
      }),
      { numRuns: 600 },
    );
  });

  it('passes long lists on in batches, also nested ones', () => {
    const value = {
      a: Array.from({ length: 20_000 }, (_, i) => ({ i, text: 'x'.repeat(i % 7) })),
      long: [
        { profile_id: 1, domains: Array.from({ length: 20_000 }, (_, i) => `${i}.example.com`) },
        { domains: [], profile_id: 2 },
      ],
      b: [],
    };
    expect(read(JSON.stringify(value), 10_000)).toEqual(value);
  });

  it.each([
    '',
    ' ',
    '{',
    '{"a":[1}',
    '{"a":[1]',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[]]',
    '{}{}',
    '{"a":[1],[2]}',
    '{[1]}',
    '}{',
    '{"a" [1]}',
  ])('rejects %j', (text) => {
    expect(() => read(text)).toThrow(JsonSyntaxError);
  });

  it('rejects an extra comma between the batches of a long list', () => {
    const part = Array.from({ length: 20_000 }, () => '1').join(',');
    expect(() => read(`{"a":[${part},,${part}]}`)).toThrow(JsonSyntaxError);
    expect(() => read(`{"a":[${part},]}`)).toThrow(JsonSyntaxError);
  });

  it('rejects bytes that are not UTF-8', () => {
    expect(() => read(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d))).toThrow(
      JsonSyntaxError,
    );
  });

  it('rejects the name of a list that is not UTF-8', () => {
    expect(() => read(Buffer.from('{"\xff":[]}', 'latin1'))).toThrow(JsonSyntaxError);
  });

  it('decodes each byte of a body a few times at most, whatever is repeated in it', () => {
    const decode = vi.spyOn(TextDecoder.prototype, 'decode');
    onTestFinished(() => decode.mockRestore());
    const token = fc.constantFrom('{', '}', '[', ']', ',', ':', ' ', '1', '"a"', '"domains"');
    const tokens = fc.array(token, { maxLength: 6 }).map((all) => all.join(''));
    const start = fc.constantFrom(
      '',
      '{"long":[',
      '{"long":[{"a":',
      '{"long":[{"domains":[',
      '{"a":',
    );
    fc.assert(
      fc.property(start, tokens, tokens, (first, before, repeated) => {
        decode.mockClear();
        const text = first + before + repeated.repeat(2_000);
        try {
          read(text, 10_000);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonSyntaxError);
        }
        const decoded = decode.mock.calls.reduce((sum, [bytes]) => sum + bytes!.byteLength, 0);
        expect(decoded).toBeLessThanOrEqual(3 * text.length + 100);
      }),
      {
        numRuns: 500,
        examples: [
          ['{"long":[{"a":', '', '[],'],
          ['{"a":', '', '[],'],
          ['{"long":[{"a":', '1', ' ['],
          ['{"long":[{"a":', '', '[],"b":'],
        ],
      },
    );
    decode.mockRestore();
  });

  it.each([
    ['{"a":[1,"X"]}', ['a', '1']],
    ['{"long":[{},{"domains":["a","X"]}]}', ['long', '1', 'domains', '1']],
    ['{"a":"X"}', []],
    ['[["X"]]', []],
  ])('stops at a value of several megabytes: %s', (text, path) => {
    let thrown: unknown;
    try {
      read(text.replace('X', 'x'.repeat(5 * 1024 * 1024)), 100_000);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(JsonSizeError);
    expect((thrown as JsonSizeError).path).toEqual(path);
  });
});
