import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { parseBody } from './parse-body.js';

const CHUNKS = 100;

/** A body whose chunks have all arrived. */
async function* arrived(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < CHUNKS; i++) yield await Promise.resolve(chunk);
}

it('reads JSON in UTF-8, with a byte order mark or without', async () => {
  const parse = (bytes: string | Uint8Array) =>
    parseBody(Readable.from([Buffer.from(bytes as string)]));
  for (const text of ['["ä"]', '\ufeff["ä"]']) {
    expect(await parse(text)).toEqual({ value: ['ä'] });
  }
  for (const bytes of ['\ufeff', '\ufeff\ufeff[]', '[', Buffer.from('["ä"]', 'latin1')]) {
    expect(await parse(bytes)).toMatchObject({ fault: { type: 'json_invalid' } });
  }
});

it.each([
  '{"white_list_only":true,"white_list_only":false}',
  '[{"a":1},{"b":{"a":1,"\\u0061":1}}]',
  '{"__proto__":{},"__proto__":1}',
])('refuses an object that has a field twice: %s', async (text) => {
  const body = await parseBody(Readable.from([Buffer.from(text)]));
  expect(body).toMatchObject({ fault: { type: 'duplicate' } });
});

it('takes the same field in several objects, and colons in texts', async () => {
  const text = '[{"a":{"a":"b:c","::":[{"a":1},{"__proto__":null}]}},":"]';
  expect(await parseBody(Readable.from([Buffer.from(text)]))).toEqual({ value: JSON.parse(text) });
});

it('takes no bytes for no body', async () => {
  expect(await parseBody(Readable.from([]))).toMatchObject({ fault: { type: 'missing' } });
});

it('reads no more of a body that is refused', async () => {
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of arrived(Buffer.from('['))) {
      read++;
      yield chunk;
    }
  }
  expect(await parseBody(counted())).toMatchObject({ fault: { type: 'too_long' } });
  expect(read).toBeLessThan(CHUNKS / 2);
});
