import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkHealth } from './health-check.js';

describe('checkHealth', () => {
  let server: Server;
  let answer: { status: number; text: string };
  let asked: (string | undefined)[];
  const environment = (host?: string) => ({
    OPS_HOST: host,
    OPS_PORT: String((server.address() as AddressInfo).port),
  });

  beforeEach(async () => {
    asked = [];
    answer = { status: 200, text: 'ok\n' };
    server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(answer.status).end(answer.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.close();
  });

  it.each([undefined, '', '127.0.0.1', '0.0.0.0', '::'])(
    'is well when a process with OPS_HOST %j answers 200',
    async (host) => {
      expect(await checkHealth('readyz', environment(host))).toBeNull();
      expect(asked).toEqual(['/readyz']);
    },
  );

  it('returns the reason that the process gives when it is not ready', async () => {
    answer = { status: 503, text: 'no configuration yet\n' };
    expect(await checkHealth('readyz', environment())).toBe('no configuration yet');
    expect(await checkHealth('livez', environment())).toBe('no configuration yet');
    expect(asked).toEqual(['/readyz', '/livez']);
  });

  it('returns a reason when nothing listens', async () => {
    const where = environment();
    await new Promise((resolve) => server.close(resolve));
    expect(await checkHealth('livez', where)).toMatch(/^\/livez on port \d+: .*ECONNREFUSED/);
  });

  it('gives up on a process that accepts the connection and does not answer', async () => {
    server.removeAllListeners('request');
    expect(await checkHealth('livez', environment())).toContain('no answer within 4000 ms');
    server.closeAllConnections();
  });
});
