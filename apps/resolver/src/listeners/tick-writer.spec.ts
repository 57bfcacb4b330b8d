import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { TickWriter } from './tick-writer.js';

/** Both ends of a connection. The client does not read. */
async function openPair() {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
  });
  return { client, socket };
}

const BYTES = 20_000_000;

it('loses nothing of what was sent before the end, whatever is written behind it', async () => {
  const { client, socket } = await openPair();
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  const writer = new TickWriter(socket, () => undefined);
  const large = Buffer.alloc(BYTES, 1);
  writer.reserve(BYTES);
  writer.copy(large, 0, BYTES);
  writer.flush();
  socket.end();
  writer.reserve(1);
  writer.byte(2);
  writer.flush();
  const received = Buffer.concat((await client.toArray()) as Buffer[]);
  expect(received.equals(large)).toBe(true);
  expect(errors).toEqual([]);
});

it('sends what there is before it ends', async () => {
  const { client, socket } = await openPair();
  const writer = new TickWriter(socket, () => undefined);
  writer.reserve(1);
  writer.byte(7);
  writer.end();
  expect(await client.toArray()).toEqual([Buffer.of(7)]);
});
