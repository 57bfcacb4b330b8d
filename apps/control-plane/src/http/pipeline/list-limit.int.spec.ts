import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';

/** More than all connections for lists. */
const READERS = 16;
const OTHER = { Authorization: 'Bearer second-token-of-the-tests' };

let harness: Harness;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await harness.stop();
});

/** A client that begins to read a long list, and then reads no further. @returns the status line */
async function readSlowly(): Promise<string> {
  const socket = connect(harness.controlPlane.managementPort, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  socket.write(`GET /net/ HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
  const [line] = await new Promise<string[]>((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString().split('\r\n')));
  });
  socket.pause();
  return line;
}

it('slow readers of one token leave lists to others, and get 429 with Retry-After themselves', async () => {
  harness = await startHarness();
  await harness.call('POST', '/profiles/', { profile: { id: 1 } });
  // Much more than the buffers of a connection can hold.
  await harness.sql(`
    INSERT INTO ipv4_network (address, prefix_length, profile_id)
    SELECT inet '10.0.0.0' + i, 32, 1 FROM generate_series(1, 300000) AS i`);
  const lines = await Promise.all(Array.from({ length: READERS }, readSlowly));
  expect(lines.filter((line) => line === 'HTTP/1.1 200 OK')).toHaveLength(8);
  expect(lines.filter((line) => line === 'HTTP/1.1 429 Too Many Requests')).toHaveLength(8);

  const refused = await harness.call('GET', '/profiles/');
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
    429,
    '1',
    { detail: expect.stringContaining('Too many lists') as string },
  ]);
  for (const path of ['/net6/', '/profiles/', '/blockpage/']) {
    expect((await harness.call('GET', path, undefined, OTHER)).status).toBe(200);
  }
  expect((await harness.call('GET', '/profiles/1')).status).toBe(200);

  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await harness.call('GET', '/profiles/')).status).toBe(200);
});
