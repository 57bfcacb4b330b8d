import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { rawRequest } from '../../testing/raw-request.js';

const AUTHORIZATION = { Authorization: `Bearer ${TOKEN}` };
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('every request', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const raw = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string | Uint8Array,
  ) =>
    rawRequest(harness.baseUrl, {
      method,
      path,
      headers: { ...AUTHORIZATION, ...headers },
      ...(body !== undefined && { body }),
    });
  const post = (body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE) =>
    raw('POST', '/blockpage/', headers, body);

  beforeAll(async () => {
    harness = await startHarness({ MANAGEMENT_BODY_LIMIT: '2kb' });
  });
  afterAll(() => harness.stop());

  describe('must have a bearer token', () => {
    it.each([
      [{}],
      [{ Authorization: '' }],
      [{ Authorization: 'Bearer' }],
      [{ Authorization: 'Bearer wrong' }],
      [{ Authorization: TOKEN }],
      [{ Authorization: `Basic ${TOKEN}` }],
      [{ Authorization: `Bearer ${TOKEN}x` }],
      [{ Authorization: `Bearer ${TOKEN} ${TOKEN}` }],
    ])('and is answered 401 with %j', async (headers) => {
      const answer = await rawRequest(harness.baseUrl, {
        method: 'GET',
        path: '/blockpage/',
        headers: headers,
      });
      expect([answer.status, answer.body]).toEqual([401, { detail: 'Not authenticated' }]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });

    it.each([`Bearer ${TOKEN}`, 'bearer second-token-of-the-tests'])(
      'and is accepted with any of the tokens: %s',
      async (authorization) => {
        const answer = await raw('GET', '/blockpage/', { Authorization: authorization });
        expect(answer.status).toBe(200);
      },
    );

    it('which is checked before anything else', async () => {
      const answer = await rawRequest(harness.baseUrl, { method: 'BREW', path: '/nowhere' });
      expect([answer.status]).toEqual([400]);
      const known = await rawRequest(harness.baseUrl, { method: 'PUT', path: '/nowhere' });
      expect(known.status).toBe(401);
    });

    it('which is never logged', () => {
      expect(harness.logLines.length).toBeGreaterThan(5);
      expect(harness.logLines.join('')).not.toContain(TOKEN);
      expect(harness.logLines.join('')).not.toContain('second-token-of-the-tests');
    });
  });

  describe('must match a route', () => {
    it.each(['/', '/nowhere', '/blockpage/1/2', '/blockpage//', '/BLOCKPAGE/', '/profile/1'])(
      'and is answered 404 for %s',
      async (path) => {
        const answer = await raw('GET', path);
        expect([answer.status, answer.body]).toEqual([404, { detail: 'No such path' }]);
      },
    );

    it.each([
      ['PUT', '/blockpage/', 'GET, POST, HEAD, OPTIONS'],
      ['DELETE', '/blockpage', 'GET, POST, HEAD, OPTIONS'],
      ['POST', '/blockpage/1', 'GET, PATCH, DELETE, HEAD, OPTIONS'],
      ['GET', '/profile/1/bw_list', 'POST, OPTIONS'],
      // `batch` may be a domain, and is no number.
      ['GET', '/profile/1/bw_list/batch', 'POST, PATCH, DELETE, OPTIONS'],
      ['GET', '/profile/1/app_aware/batch', 'POST, OPTIONS'],
      ['GET', '/profile/%31/app_aware/batch', 'POST, OPTIONS'],
      ['PUT', '/napt/batch', 'POST, DELETE, OPTIONS'],
      ['PUT', '/napt/x', 'GET, HEAD, OPTIONS'],
    ])('and is answered 405 with Allow for %s %s', async (method, path, allow) => {
      const answer = await raw(method, path, { ...JSON_TYPE, 'Content-Length': '1' }, '{');
      expect([answer.status, answer.body, answer.headers.get('allow')]).toEqual([
        405,
        { detail: 'Method not allowed' },
        allow,
      ]);
    });

    it('and gets its methods from OPTIONS', async () => {
      const answer = await raw('OPTIONS', '/net/1/');
      expect([answer.status, answer.body, answer.headers.get('allow')]).toEqual([
        204,
        undefined,
        'GET, PATCH, DELETE, HEAD, OPTIONS',
      ]);
    });

    it('and gets the headers of GET from HEAD', async () => {
      await call('POST', '/blockpage/', { id: 1, type: 0 });
      for (const path of ['/blockpage/1', '/blockpage/']) {
        const [get, head] = [await raw('GET', path), await raw('HEAD', path)];
        expect([head.status, head.body]).toEqual([200, undefined]);
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
        expect(head.headers.get('x-config-revision')).toBe(get.headers.get('x-config-revision'));
      }
      expect((await raw('HEAD', '/blockpage/99')).status).toBe(404);
    });

    it('with or without a trailing slash, and with any query', async () => {
      for (const path of [
        '/blockpage/1',
        '/blockpage/1/',
        '/blockpage/1/?a=b',
        '/blockpage/1?%zz',
      ]) {
        expect((await raw('GET', path)).body).toEqual({ id: 1, type: 0 });
      }
    });

    it('and is answered 422 for invalid percent-encoding in its path', async () => {
      const answer = await raw('GET', '/blockpage/%zz');
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['path.page_id: value_error']]);
    });
  });

  describe('with a body', () => {
    it.each([
      [{}],
      [{ 'Content-Type': 'text/plain' }],
      [{ 'Content-Type': 'application/x-www-form-urlencoded' }],
      [{ 'Content-Type': 'application/jsonp' }],
      [{ ...JSON_TYPE, 'Content-Encoding': 'compress' }],
    ])('is answered 415 when its headers do not say JSON: %j', async (headers) => {
      const answer = await post('{"id":2,"type":0}', headers);
      expect(answer.status).toBe(415);
      expect(answer.body).toEqual({ detail: expect.any(String) });
    });

    it.each([JSON_TYPE, { 'Content-Type': 'Application/JSON; charset=utf-8' }])(
      'is read as JSON under %j',
      async (headers) => {
        expect((await post('{"id":1,"type":0}', headers)).status).toBe(409);
      },
    );

    it('is decompressed', async () => {
      const answer = await post(gzipSync('{"id":1,"type":0}'), {
        ...JSON_TYPE,
        'Content-Encoding': 'gzip',
      });
      expect(answer.status).toBe(409);
    });

    it('is answered 413 over the limit, but 415 first', async () => {
      const long = JSON.stringify({ id: 1, type: 0, more: 'x'.repeat(2048) });
      const answer = await post(long);
      expect(answer.status).toBe(413);
      expect(answer.body).toEqual({ detail: expect.any(String) });
      expect((await post(long, {})).status).toBe(415);
    });

    it('is answered 413 when it is over the limit after decompression', async () => {
      const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' };
      expect((await post(gzipSync(' '.repeat(100_000)), headers)).status).toBe(413);
    });

    it('is answered 413 over the limit without a Content-Length', async () => {
      const headers = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };
      expect((await post(' '.repeat(5_000), headers)).status).toBe(413);
    });

    it('is answered 413 over 16 MB, except for /init/, whatever the limit of the deployment', async () => {
      const replica = await harness.startReplica({ MANAGEMENT_BODY_LIMIT: '64mb' });
      const send = (path: string, megabytes: number) =>
        rawRequest(`http://127.0.0.1:${replica.managementPort}`, {
          method: 'POST',
          path,
          headers: { ...AUTHORIZATION, ...JSON_TYPE },
          body: ' '.repeat(megabytes * 2 ** 20 + 1),
        });
      expect((await send('/blockpage/', 16)).status).toBe(413);
      expect((await send('/blockpage/', 15)).status).toBe(422);
      expect((await send('/init/', 16)).status).toBe(422);
      await replica.stop();
    });

    it('is read at the limit', async () => {
      const body = '{"id":1,"type":0}';
      expect((await post(body + ' '.repeat(2048 - body.length))).status).toBe(409);
    });

    it.each([
      ['{', 'json_invalid'],
      ['{"id":1,}', 'json_invalid'],
      ["{'id':1}", 'json_invalid'],
      ['{"id":NaN}', 'json_invalid'],
      ['\u0000', 'json_invalid'],
      ['5', 'object_type'],
      ['"text"', 'object_type'],
      ['null', 'object_type'],
      ['[]', 'object_type'],
    ])('%s is answered 422 %s', async (body, type) => {
      const answer = await post(body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, [`body: ${type}`]]);
    });

    it('is not JSON when it is not UTF-8', async () => {
      const answer = await post(Uint8Array.of(0x22, 0xff, 0x22));
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: json_invalid']]);
    });

    it('is rejected when it says gzip but is not', async () => {
      const answer = await post('{"id":1,"type":0}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' });
      expect(answer.status).toBe(415);
    });

    it('is answered 422 when it is missing', async () => {
      for (const headers of [JSON_TYPE, { 'Content-Length': '0' }] as Record<string, string>[]) {
        const answer = await raw('POST', '/blockpage/', headers);
        expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: missing']]);
      }
    });

    it('is missing when it has no bytes, chunked or compressed', async () => {
      const chunked = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };
      for (const path of ['/blockpage/', '/init/']) {
        for (const [headers, body] of [
          [chunked, undefined],
          [{ ...chunked, 'Content-Encoding': 'gzip' }, gzipSync('')],
        ] as const) {
          const answer = await raw('POST', path, headers, body);
          expect([path, answer.status, faultsOf(answer)]).toEqual([path, 422, ['body: missing']]);
        }
      }
    });

    it('may have 24.0 for the integer 24', async () => {
      expect((await post('{"id":24.0,"type":0}')).body).toEqual({ id: 24, type: 0 });
    });

    it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
      'is rejected with the unknown field %s',
      async (name) => {
        const answer = await post(`{"id":1,"type":0,"${name}":{"x":[]}}`);
        expect([answer.status, faultsOf(answer)]).toEqual([422, [`body.${name}: extra_forbidden`]]);
      },
    );

    it('is rejected when it is nested too deeply', async () => {
      const answer = await post(`{"id":${'['.repeat(900)}${']'.repeat(900)},"type":0}`);
      expect(answer.status).toBe(422);
      expect(faultsOf(answer)).toEqual(['body: too_long']);
    });
  });

  describe('carries an id', () => {
    it('which is returned in the response and logged', async () => {
      const answer = await raw('GET', '/net/', { 'X-Request-Id': 'my-id.7' });
      expect(answer.headers.get('x-request-id')).toBe('my-id.7');
      const line = () => harness.logLines.find((one) => one.includes('my-id.7')) ?? '{}';
      await expect
        .poll(() => JSON.parse(line()) as object)
        .toMatchObject({ request_id: 'my-id.7', method: 'GET', route: '/net/', status: 200 });
    });

    it('which is created when it is missing or not safe to log', async () => {
      for (const headers of [{}, { 'X-Request-Id': 'a b' }, { 'X-Request-Id': 'x'.repeat(65) }]) {
        const answer = await raw('GET', '/net/', headers);
        expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      }
    });
  });

  it('gets a response that is not cached and does not name the server software', async () => {
    const { headers } = await call('GET', '/net/');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('x-powered-by')).toBe(false);
    expect(headers.has('etag')).toBe(false);
  });

  it('may be aborted during its body without an effect on others', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(harness.controlPlane.managementPort, '127.0.0.1', () => {
        socket.write(
          [
            'POST /blockpage/ HTTP/1.1',
            'Host: example.com',
            `Authorization: Bearer ${TOKEN}`,
            'Content-Type: application/json',
            'Content-Length: 100',
            '',
            '{',
          ].join('\r\n'),
          () => setTimeout(() => socket.destroy(), 50),
        );
      });
      socket.once('close', () => resolve());
    });
    expect((await call('GET', '/net/')).status).toBe(200);
    expect(harness.logLines.join('')).not.toContain('request failed');
  });
});

describe('sources', () => {
  let harness: Harness;
  const from = (forwarded: string | undefined, headers: Record<string, string> = AUTHORIZATION) =>
    rawRequest(harness.baseUrl, {
      method: 'GET',
      path: '/net/',
      headers: { ...headers, ...(forwarded !== undefined && { 'X-Forwarded-For': forwarded }) },
    });

  beforeAll(async () => {
    harness = await startHarness({
      MANAGEMENT_ALLOWED_SOURCES: '192.0.2.0/24,2001:db8::/32',
      MANAGEMENT_TRUSTED_PROXIES: '127.0.0.1,198.51.100.0/24',
    });
  });
  afterAll(() => harness.stop());

  it('get 403 when they are not approved, before the token and the path are checked', async () => {
    for (const headers of [AUTHORIZATION, {}] as Record<string, string>[]) {
      const answer = await from(undefined, headers);
      expect([answer.status, answer.body]).toEqual([
        403,
        { detail: 'Source address is not approved' },
      ]);
      expect(answer.headers.has('www-authenticate')).toBe(false);
    }
  });

  it.each(['192.0.2.7', '2001:db8::1', '203.0.113.1, 192.0.2.7', '192.0.2.7, 198.51.100.9'])(
    'pass when they are approved: %s',
    async (forwarded) => {
      expect((await from(forwarded)).status).toBe(200);
    },
  );

  it.each(['203.0.113.1', '192.0.2.7, 203.0.113.1', 'unknown', '192.0.2.7, x', '198.51.100.9'])(
    'are rejected when they are not approved, and cannot forge their address: %s',
    async (forwarded) => {
      expect((await from(forwarded)).status).toBe(403);
    },
  );
});
