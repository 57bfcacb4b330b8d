import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { closeServer, listen } from './server-lifecycle.js';

const CLIENTS = 8;

it('a server that closes answers everything that comes on connections that were kept', async () => {
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('done'), 5);
  });
  // Also while the machine stalls.
  server.keepAliveTimeout = 60_000;
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
  const connected = new Set<number>();
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let outcome = ''; outcome !== 'ECONNREFUSED'; outcomes.add(outcome)) {
      outcome = await call();
      connected.add(client);
    }
  });
  await expect.poll(() => connected.size).toBe(CLIENTS);
  await closeServer(server, 60_000);
  await Promise.all(clients);
  agent.destroy();
  expect([...outcomes]).toEqual(['answered', 'ECONNREFUSED']);
});

it('a server that closes does not wait for a client that has not begun its TLS handshake', async () => {
  const server = createHttpsServer(() => undefined);
  const port = await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const arrived = once(server, 'connection');
  const socket = connect(port, '127.0.0.1');
  await arrived;
  const closed = once(socket.resume(), 'close');
  await closeServer(server, 300);
  await closed;
});
