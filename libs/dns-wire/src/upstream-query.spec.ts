import { describe, expect, it } from 'vitest';
import { parseQuery, Query } from './query.js';
import { parseResponse, Response } from './response.js';
import {
  decodeMessage,
  decodeOptions,
  encodeMessage,
  encodeQuery,
  opt,
  option,
} from './testing/index.js';
import {
  addCookies,
  addPadding,
  MAX_UPSTREAM_QUERY_BYTES,
  removeEdns,
  writeUpstreamQuery,
} from './upstream-query.js';

const COOKIE = 10;
const PADDING = 12;
const LONGEST_NAME = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

describe('addCookies', () => {
  it.each([8, 24, 40])('appends %i bytes of cookies to the longest query', (size) => {
    const bytes = encodeQuery(LONGEST_NAME, 1);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    const out = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const cookies = Uint8Array.from({ length: 40 }, (_, i) => i + 1);
    const length = addCookies(out, writeUpstreamQuery(out, bytes, query, 7), cookies, size);
    const message = decodeMessage(out.subarray(0, length));
    expect(message.questions[0].qname).toBe(LONGEST_NAME);
    expect(decodeOptions(message.opt!.rdata)).toEqual([
      { code: COOKIE, data: Buffer.from(cookies.subarray(0, size)) },
    ]);
  });
});

describe('addPadding', () => {
  it.each([
    ['a.example', 128],
    [`${'a'.repeat(63)}.${'b'.repeat(31)}`, 128],
    [`${'a'.repeat(63)}.${'b'.repeat(32)}`, 256],
    [LONGEST_NAME, 384],
  ])('makes a query for %s %i bytes long', (name, size) => {
    const bytes = encodeQuery(name, 1);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    const out = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES).fill(0xee);
    const length = addPadding(out, writeUpstreamQuery(out, bytes, query, 7));
    expect(length).toBe(size);
    const message = decodeMessage(out.subarray(0, length));
    expect(message.questions[0].qname).toBe(name);
    const [{ code, data }] = decodeOptions(message.opt!.rdata);
    expect(code).toBe(PADDING);
    expect(data.every((byte) => byte === 0)).toBe(true);
  });
});

describe('the cookies of a response', () => {
  const response = new Response();
  const parse = (options: Uint8Array): boolean => {
    const { questions } = decodeMessage(encodeQuery('www.example', 1));
    const [{ qtype }] = questions;
    const qname = encodeQuery('www.example', 1).slice(12, -4);
    const additionals = [opt(1232, 0, options)];
    const bytes = encodeMessage({
      id: 1,
      flags: 0x8180,
      questions: [{ qname, qtype }],
      additionals,
    });
    return parseResponse(bytes, bytes.length, response);
  };

  it('are found among other options', () => {
    expect(parse(Buffer.concat([option(15, [0, 3]), option(COOKIE, [1, 2, 3])]))).toBe(true);
    const { bytes, cookieAt } = response;
    expect([...bytes.subarray(cookieAt - 2, cookieAt + 3)]).toEqual([0, 3, 1, 2, 3]);
  });

  it('are forgotten with the next response', () => {
    parse(option(COOKIE, [1, 2, 3]));
    expect(parse(option(15, [0, 3]))).toBe(true);
    expect(response.cookieAt).toBe(0);
  });
});

describe('removeEdns', () => {
  it('leaves the question and the flags of an upstream query', () => {
    const asked = encodeQuery('www.example.com', 28, { udpBytes: 1232 });
    const query = new Query();
    parseQuery(asked, asked.length, query);
    const out = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const length = removeEdns(out, writeUpstreamQuery(out, asked, query, 9));
    expect(decodeMessage(out.slice(0, length))).toMatchObject({
      id: 9,
      questions: [{ qname: 'www.example.com', qtype: 28 }],
      additionals: [],
      trailing: 0,
    });
  });
});
