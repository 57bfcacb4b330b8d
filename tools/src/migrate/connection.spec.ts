import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { withConnection } from './connection.js';

/** `AuthenticationSASL`, then `AuthenticationSASLContinue` (PostgreSQL 18, Message Formats). */
const ANSWERS = ['R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'R\0\0\0\x16\0\0\0\x0br=x,s=eA==,i=1'];

it('withConnection leaves no connection behind when the client cannot authenticate', async () => {
  const server = createServer();
  onTestFinished(() => {
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const attempt = withConnection(`postgres://weir@127.0.0.1:${port}/weir`, () => Promise.resolve());
  attempt.catch(() => undefined);
  const [socket] = await connected;
  onTestFinished(() => {
    socket.destroy();
  });
  const closed = once(socket, 'close');
  for (const answer of ANSWERS) {
    await once(socket, 'data');
    socket.write(answer, 'latin1');
  }
  await expect(attempt).rejects.toThrow('the database cannot be reached: SASL');
  await closed;
});
