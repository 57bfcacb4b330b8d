import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MAX_QUERY_BYTES, readRequest } from './doh.js';

const read = (method: string, target: string, contentType = '') =>
  readRequest({
    ...{ method, target, contentType, body: Readable.from([]), headerBytes: 0 },
    ...{ respond: () => undefined, abort: () => undefined, onClose: () => undefined },
  });

describe('readRequest', () => {
  it('reads the query of a GET request (RFC 8484 §4.1.1)', () => {
    const dns = 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB';
    expect(read('GET', `/dns-query?dns=${dns}`)).toEqual({ query: Buffer.from(dns, 'base64url') });
    expect(read('GET', `/dns-query?a=b&dns=-_8`)).toEqual({ query: Buffer.of(0xfb, 0xff) });
  });

  it.each([
    '',
    '?',
    '?dns=',
    '?dn=AAAA',
    '?dns=AA%3D%3D',
    '?dns=A+A',
    '?dns=AAAA&dns=AAAA',
    '?dns=%',
  ])('refuses a GET request with "%s"', (query) => {
    expect(read('GET', `/dns-query${query}`)).toEqual({ status: 400 });
  });

  it('limits the size of the query in a GET request', () => {
    const of = (bytes: number) => `/dns-query?dns=${Buffer.alloc(bytes).toString('base64url')}`;
    expect(read('GET', of(MAX_QUERY_BYTES))).toHaveProperty('query');
    expect(read('GET', of(MAX_QUERY_BYTES + 1))).toEqual({ status: 413 });
  });

  it.each(['application/dns-message', 'Application/DNS-Message; charset=utf-8'])(
    'accepts the body of a POST request of type %s',
    (type) => {
      expect(read('POST', '/dns-query', type)).toEqual({ inBody: true });
    },
  );

  it.each([
    ['POST', '/dns-query', '', 415],
    ['POST', '/dns-query', 'application/dns-json', 415],
    ['PUT', '/dns-query', 'application/dns-message', 405],
    ['HEAD', '/dns-query?dns=AAAA', '', 405],
    ['GET', '/', '', 404],
    ['GET', 'https://dns.example/dns-query?dns=AAAA', '', 404],
    ['GET', '/dns-query/', '', 404],
    ['POST', '', '', 404],
    ['POST', '/dns-query?', 'application/dns-message', 400],
    ['POST', '/dns-query?dns=AAAA', 'application/dns-message', 400],
  ])('answers %s %s of type "%s" with %i', (method, target, type, status) => {
    expect(read(method, target, type)).toEqual({ status });
  });
});
