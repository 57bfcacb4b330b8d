import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { rawRequest } from '../../testing/raw-request.js';
import { sha256 } from '@weir/ops';

const READ_TOKEN = 'read-token-of-the-tests';
const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

describe('a hostile request', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-hostile-'));
  let harness: Harness;

  beforeAll(async () => {
    const file = join(folder, 'tokens.yaml');
    const digest = sha256(READ_TOKEN).toString('hex');
    writeFileSync(file, `- { name: reader, sha256: '${digest}', scope: read }\n`);
    harness = await startHarness({ MANAGEMENT_TOKENS_FILE: file, MANAGEMENT_STALL_S: '300' });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'])(
    'with the encoding %s, which every object has as a property, is refused',
    async (encoding) => {
      const answer = await rawRequest(harness.baseUrl, {
        method: 'POST',
        path: '/blockpage/',
        headers: { ...HEADERS, 'Content-Encoding': encoding },
        body: '{"id": 1, "type": 0}',
      });
      expect(answer.status).toBe(415);
      const { status } = await harness.call('GET', '/blockpage/');
      expect(status).toBe(200);
    },
  );

  it('is none because a small and a large chunk of its body arrive together', async () => {
    const { hostname, port } = new URL(harness.baseUrl);
    const socket = connect(Number(port), hostname).setEncoding('utf8').setNoDelay();
    const headers = { ...HEADERS, Host: 'api', 'Transfer-Encoding': 'chunked' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`PATCH /blockpage/1 HTTP/1.1\r\n${lines.join('')}\r\n`);
    // The body is being read when it arrives.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const chunks = ['{"type":0', ' '.repeat(600), ' '.repeat(50_000), '}', ''];
    socket.write(chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join(''));
    const [answer] = (await once(socket, 'data')) as [string];
    expect(answer.slice(0, 12)).toBe('HTTP/1.1 404');
    socket.destroy();
  });

  it.each(['identity', 'gzip'])(
    'whose body is mostly framing of its chunks is refused, and ends its connection: %s',
    async (encoding) => {
      const { hostname, port } = new URL(harness.baseUrl);
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      let text = '';
      socket.on('error', () => undefined).on('data', (part: string) => (text += part));
      const headers = { ...HEADERS, Host: 'api', 'Content-Encoding': encoding };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const head = ['POST /blockpage/ HTTP/1.1', ...lines, 'Transfer-Encoding: chunked', '', ''];
      socket.write(head.join('\r\n'));
      const body =
        encoding === 'gzip' ? gzipSync(randomBytes(100_000)) : Buffer.alloc(100_000, ' ');
      for (let at = 0; at < body.length; at += 20_000) {
        const bytes = [...body.subarray(at, at + 20_000)];
        const chunks = bytes.map((byte) => Buffer.of(0x31, 13, 10, byte, 13, 10));
        socket.write(Buffer.concat(chunks));
      }
      await new Promise((resolve) => socket.once('close', resolve));
      expect(text.slice(0, 12)).toBe('HTTP/1.1 413');
    },
  );

  it.each([
    ['POST', '/profiles/'],
    ['DELETE', '/napt/batch'],
    ['POST', '/init/'],
  ])('beyond the scope of its token is refused before its body is read: %s %s', async (...call) => {
    const [method, path] = call;
    const answer = await rawRequest(harness.baseUrl, {
      method,
      path,
      headers: { ...HEADERS, Authorization: `Bearer ${READ_TOKEN}`, 'Content-Length': '1000000' },
      body: '[',
      isCut: true,
    });
    expect(answer.status).toBe(403);
  });

  describe.each([
    ['with a bad token', 'POST /blockpage/', 'wrong', 401],
    ['for a path that nothing has', 'POST /nothing', TOKEN, 404],
    ['with a method that the path has not', 'PUT /blockpage/', TOKEN, 405],
  ])('%s', (_what, call, token, status) => {
    const open = () => {
      const { hostname, port } = new URL(harness.baseUrl);
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      const received = { text: '' };
      socket.on('error', () => undefined).on('data', (text: string) => (received.text += text));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      return { socket, received, closed };
    };
    const send = (socket: Socket, length: string) => {
      const head = [`${call} HTTP/1.1`, 'Host: api', `Authorization: Bearer ${token}`, length];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
    };
    const answersIn = (text: string) => text.split(`HTTP/1.1 ${status} `).length - 1;

    it.each(['Content-Length: 1000000000', 'Transfer-Encoding: chunked'])(
      'is answered at once, and its connection ends when the rest does not come: %s',
      async (length) => {
        const { socket, received, closed } = open();
        send(socket, length);
        await closed;
        expect(answersIn(received.text)).toBe(1);
      },
    );

    it('is answered to a client that first sends its long body, on a connection that stays', async () => {
      const { socket, received } = open();
      const body = Buffer.alloc(8e6, ' ');
      for (let round = 1; round <= 2; round++) {
        send(socket, `Content-Length: ${body.length}`);
        await new Promise((resolve) => socket.write(body, resolve));
        await expect.poll(() => answersIn(received.text)).toBe(round);
      }
      socket.destroy();
    });

    it('ends its connection when its body comes in chunks of one byte', async () => {
      const { socket, closed } = open();
      send(socket, 'Transfer-Encoding: chunked');
      const chunks = '1\r\nx\r\n'.repeat(10_000);
      const feed = (): void => {
        while (socket.writable && socket.write(chunks));
      };
      socket.on('drain', feed);
      feed();
      await closed;
    });

    it('is answered, and ends its connection, when its body does not end', async () => {
      const { socket, received, closed } = open();
      send(socket, 'Content-Length: 1000000000000');
      const chunk = Buffer.alloc(1e6, ' ');
      const feed = (): void => {
        while (socket.writable && socket.write(chunk));
      };
      // It reads its answer before it goes on to send.
      await expect.poll(() => answersIn(received.text)).toBe(1);
      socket.on('drain', feed);
      feed();
      await closed;
    });
  });

  it.each([
    ['two lengths', ['Content-Length: 2', 'Transfer-Encoding: chunked']],
    ['different lengths', ['Content-Length: 2', 'Content-Length: 3']],
    ['a list of lengths', ['Content-Length: 2, 2']],
    ['a length with a sign', ['Content-Length: +2']],
    ['a space before the colon', ['Content-Length : 2']],
    ['an unknown transfer encoding', ['Transfer-Encoding: xchunked']],
    ['a transfer encoding before chunked', ['Transfer-Encoding: gzip, chunked']],
    ['two transfer encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
    ['a header on two lines', ['X-Folded: one', ' two']],
  ])('that a proxy may read in another way is refused: %s', async (_what, lines) => {
    const { hostname, port } = new URL(harness.baseUrl);
    const head = ['POST /blockpage/ HTTP/1.1', 'Host: api', ...lines];
    const rest = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      socket.on('data', (chunk: string) => (text += chunk)).on('error', () => undefined);
      socket.once('close', () => resolve(text));
      const body = '2\r\n{}\r\n0\r\n\r\n';
      socket.write(`${[...head, ...rest].join('\r\n')}\r\n\r\n${body}GET / HTTP/1.1\r\n\r\n`);
    });
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('cannot fill the memory with bodies that never end: small bodies are read, large ones refused', async () => {
    const large = Buffer.from(`{"id": 1, "type": ["${'x'.repeat(15 * 2 ** 20)}`);
    const packed = gzipSync(large, { level: 1 });
    const path = `${harness.baseUrl}/blockpage/`;
    const headers = { ...HEADERS, 'Content-Encoding': 'gzip' };
    const held = Array.from({ length: 9 }, () => request(path, { method: 'POST', headers }));
    const refused = new Promise((resolve) => {
      for (const one of held) one.once('response', resolve).on('error', () => undefined);
    });
    for (const one of held) one.write(packed);
    expect(await refused).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
    const small = await harness.call('POST', '/blockpage/', { id: 1, type: 0 });
    expect(small.status).toBe(201);
    for (const one of held) one.destroy();
    await expect
      .poll(async () => {
        const body = gzipSync(`${large.toString()}"]}`, { level: 1 });
        return (await fetch(path, { method: 'POST', headers, body })).status;
      })
      .toBe(422);
  });
});
