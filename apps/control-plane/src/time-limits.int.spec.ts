import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { limitTimes } from './management-api.js';

/** @param isPaused the client does not read before the connection is closed. @returns what it receives. */
async function readLate(listener: RequestListener, isPaused: boolean): Promise<number> {
  const server = createServer(listener);
  limitTimes(server, { headersMs: 9_000, requestMs: 9_000, idleMs: 100, stallMs: 300 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('data', (chunk) => (bytes += chunk.length)).on('error', () => undefined);
    socket.once('close', () => resolve());
    if (isPaused) socket.pause();
    server.once('connection', (served) => served.once('close', () => socket.resume()));
    socket.write('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n');
  });
  await new Promise((resolve) => server.close(resolve));
  return bytes;
}

const LONG = Buffer.alloc(64 * 1024 * 1024);

it('closes the connection of a client that stops reading a long response', async () => {
  const received = await readLate((_request, response) => response.end(LONG), true);
  expect(received).toBeLessThan(LONG.length);
});

it('does not close the connection of a client that waits for its response', async () => {
  const answerLate: RequestListener = (_request, response) =>
    void setTimeout(() => response.end('done'), 1_000);
  expect(await readLate(answerLate, false)).toBeGreaterThan(0);
});

it.each([
  ['half a head', { headersMs: 200 }, 'GET / HTTP/1.1\r\nHost: a\r\n', /^HTTP\/1\.1 408 /],
  [
    'half a body',
    // Node takes the longer one of the two for the whole request.
    { headersMs: 200, requestMs: 200 },
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
    /^HTTP\/1\.1 408 /,
  ],
  [
    'a request and no other',
    { idleMs: 100 },
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    /^HTTP\/1\.1 200 /,
  ],
])('times out a client that sends %s', async (_what, limit, sent, answer) => {
  const server = createServer({ connectionsCheckingInterval: 20 }, (request, response) => {
    request.resume().once('end', () => response.end());
  });
  // The others are longer than a machine stalls.
  const others = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000, stallMs: 60_000 };
  limitTimes(server, { ...others, ...limit });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const received = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('close', () => resolve(text)).once('error', reject);
    socket.write(sent);
  });
  expect(received).toMatch(answer);
  await new Promise((resolve) => server.close(resolve));
});
