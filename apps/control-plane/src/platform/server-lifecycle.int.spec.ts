import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { closeServer, listen } from './server-lifecycle.js';
import { smallCalls } from './small-calls.js';

const CLIENTS = 8;

it('a server that closes answers everything that comes on connections that were kept', async () => {
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('done'), 5);
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  expect((server.address() as AddressInfo).port).toBe(port);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const call = () =>
    new Promise<string>((resolve) => {
      const sent = request({ host: '127.0.0.1', port, agent }, (response) => {
        response.resume().once('end', () => resolve('answered'));
      });
      sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      sent.end();
    });
  const outcomes = new Set<string>();
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (let outcome = ''; outcome !== 'ECONNREFUSED'; outcomes.add(outcome))
      outcome = await call();
  });
  await sleep(200);
  await closeServer(server, 5_000);
  await Promise.all(clients);
  agent.destroy();
  expect([...outcomes]).toEqual(['answered', 'ECONNREFUSED']);
});

it.each([
  ['without a body', undefined, true],
  ['with a small body', 'x'.repeat(10_000), true],
  ['with a large body', 'x'.repeat(100_000), false],
  ['with a body of unknown length', new Blob(['x']).stream(), false],
])('a call %s is a small one or not', async (_what, body, isSmall) => {
  const server = createServer((sent, response) => {
    const answer = String(smallCalls.areInProgress);
    sent.resume().once('end', () => response.end(answer));
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  onTestFinished(() => closeServer(server, 0));
  const init = body === undefined ? {} : { method: 'POST', body, duplex: 'half' };
  const answer = await fetch(`http://127.0.0.1:${port}`, init as RequestInit);
  expect(await answer.text()).toBe(String(isSmall));
  await expect.poll(() => smallCalls.areInProgress).toBe(false);
});
