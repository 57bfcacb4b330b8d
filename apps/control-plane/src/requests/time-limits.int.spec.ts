import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { limitTimes } from './time-limits.js';

it.each([
  ['half a head', 'GET / HTTP/1.1\r\nHost: example.com\r\n', /^HTTP\/1\.1 408 /],
  [
    'half a body',
    'POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\n\r\n{',
    /^HTTP\/1\.1 408 /,
  ],
  ['a request and no other', 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n', /^HTTP\/1\.1 200 /],
])('a client that sends %s is not waited for without end', async (_what, sent, answer) => {
  const server = createServer({ connectionsCheckingInterval: 20 }, (request, response) => {
    request.resume().once('end', () => response.end());
  });
  limitTimes(server, { headMs: 200, requestMs: 300, idleMs: 100 });
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
