import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpsServer } from './ops-server.js';
import { OpsCallError, OpsCalls } from './ops-calls.js';

const TOKENS = ['the-first-token-of-the-spec', 'the-second-token-of-the-spec'];

describe('OpsCalls', () => {
  let ops: OpsServer;
  let bodies: unknown[];
  const logged: unknown[] = [];

  const serve = (tokens: readonly string[] | undefined) => {
    const calls = new OpsCalls(tokens, {
      '/tell': { method: 'GET', run: () => ({ told: true }) },
      '/change': {
        method: 'POST',
        run: (body) => {
          bodies.push(body);
          if (body === null) throw new OpsCallError('a null changes nothing');
          if (body === 'defect') throw new Error('a defect');
          return { changed: 1 };
        },
      },
    });
    ops.serve({ notReady: () => null, registry: new Registry(), calls });
  };
  const call = async (path: string, init: RequestInit = {}, token = TOKENS[0]) => {
    const headers = { Authorization: `Bearer ${token}` };
    const url = `http://127.0.0.1:${ops.port}${path}`;
    const response = await fetch(url, { headers, ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post = (body: string, token?: string) => call('/change', { method: 'POST', body }, token);
  const detail = (text: string) => `{"detail":"${text}"}\n`;

  beforeEach(async () => {
    bodies = [];
    logged.length = 0;
    const log = { error: (fields: object) => void logged.push(fields) };
    ops = await OpsServer.start({ host: '127.0.0.1', port: 0, log });
  });
  afterEach(() => ops.close());

  it('are answered with JSON, for each of the tokens', async () => {
    serve(TOKENS);
    expect(await post('{"a":[1]}')).toMatchObject({ status: 200, text: '{"changed":1}\n' });
    const told = await call('/tell?x=1', {}, TOKENS[1]);
    expect(told).toMatchObject({ status: 200, text: '{"told":true}\n' });
    expect(told.headers.get('content-type')).toBe('application/json');
    expect(bodies).toEqual([{ a: [1] }]);
  });

  it('log nothing when the client breaks off its request', async () => {
    serve(TOKENS);
    const socket = connect(ops.port, '127.0.0.1').on('error', () => undefined);
    const head = `Host: weir\r\nAuthorization: Bearer ${TOKENS[0]}\r\n`;
    socket.write(
      `GET /livez HTTP/1.1\r\n${head}\r\nPOST /change HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\n{`,
    );
    // The answer to the first request: the server has read what there is of the second.
    await once(socket, 'data');
    socket.destroy();
    // By the time of the answer to a later client, the server knows that the first one is gone.
    for (let i = 0; i < 5; i++) await call('/tell');
    expect({ logged, bodies }).toEqual({ logged: [], bodies: [] });
  });

  it('are off without OPS_TOKENS', async () => {
    serve(undefined);
    const text = detail('this call is off; OPS_TOKENS turns it on');
    expect(await post('{}')).toMatchObject({ status: 403, text });
    expect(bodies).toEqual([]);
  });

  it.each(['', 'Bearer', `Basic ${TOKENS[0]}`, `Bearer ${TOKENS[0]}x`, 'Bearer wrong'])(
    'refuse the authorization %j',
    async (authorization) => {
      serve(TOKENS);
      const headers = { Authorization: authorization };
      const refused = await call('/change', { method: 'POST', body: '{}', headers });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer');
      expect(bodies).toEqual([]);
    },
  );

  it('take one method each', async () => {
    serve(TOKENS);
    const wrong = await call('/change');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await call('/tell', { method: 'DELETE' })).status).toBe(405);
  });

  it('refuse a body that is not JSON, too long, or not what the call takes', async () => {
    serve(TOKENS);
    expect(await post('{"a":')).toMatchObject({
      status: 400,
      text: detail('the body must be JSON'),
    });
    expect(await post('')).toMatchObject({ status: 400 });
    expect(await post(JSON.stringify('x'.repeat(4094)))).toMatchObject({ status: 200 });
    expect(await post(JSON.stringify('x'.repeat(4095)))).toMatchObject({
      status: 413,
      text: detail('the body must have at most 4096 bytes'),
    });
    expect(await post('null')).toMatchObject({
      status: 422,
      text: detail('a null changes nothing'),
    });
  });

  it('leave the other paths as they are', async () => {
    serve(TOKENS);
    expect((await call('/livez', { method: 'POST' })).status).toBe(405);
    expect((await call('/constructor')).status).toBe(404);
    expect((await call('/livez')).text).toBe('ok\n');
  });

  it('write a defect to the log, and the process goes on', async () => {
    serve(TOKENS);
    await expect(post('"defect"')).rejects.toThrow('fetch failed');
    expect(String((logged[0] as { err: Error }).err)).toContain('a defect');
    expect((await post('{}')).status).toBe(200);
  });
});
