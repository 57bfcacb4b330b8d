import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
import { startOnPort } from './ports.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-ports-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it.each([
  ['Redis', startRedis],
  ['PostgreSQL', startPostgres],
])('%s is started on another port when somebody takes the first one', async (name, start) => {
  const somebody = createServer((socket) => socket.on('error', () => undefined));
  const options = { dataDir: join(folder, name), logFile: join(folder, `${name}.log`) };
  const ports: number[] = [];
  const server = await startOnPort(undefined, async (port) => {
    ports.push(port);
    if (!somebody.listening)
      await new Promise<void>((resolve) => somebody.listen(port, '127.0.0.1', resolve));
    return start({ ...options, port });
  });
  expect(ports).toHaveLength(2);
  expect(new URL(server.url).port).toBe(String(ports[1]));
  await server.child.stop('SIGINT');
  somebody.close();
});
