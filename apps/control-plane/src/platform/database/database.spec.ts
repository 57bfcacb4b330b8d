import { pino } from 'pino';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { isDatabaseUnreachable } from './database-errors.js';
import { Database } from './database.js';

function message(type: string, ...parts: (string | number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATION_OK = message('R', [0, 0, 0, 0]);
const READY = message('Z', 'I');
const SHUTTING_DOWN = message(
  'E',
  'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
);

it('a PostgreSQL that accepts a connection and shuts down does not end the process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      socket.end(Buffer.concat([AUTHENTICATION_OK, READY, SHUTTING_DOWN]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const database = new Database(`postgresql://u:p@127.0.0.1:${port}/d`, pino({ level: 'silent' }));
  const failures = await Promise.all(
    [
      database.write((client) => client.query('SELECT 1')),
      database.prisma.$transaction((tx) => tx.blockPage.count()),
      database.pool.query('SELECT 1'),
    ].map((one: Promise<unknown>) => one.catch((error: unknown) => error)),
  );
  expect(failures.map(isDatabaseUnreachable)).toEqual([true, true, true]);
  await database.close();
  await new Promise((resolve) => server.close(resolve));
});
