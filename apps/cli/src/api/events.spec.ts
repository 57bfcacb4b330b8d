import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.js';
import { readEvents } from './events.js';

describe('readEvents', () => {
  let api: Api;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Request-Id': '1' });
    response.write('data: one\n\ndata: two\n\nda', () => response.destroy());
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    api = new Api({ WEIR_URL, WEIR_TOKEN: 'x' });
  });
  afterAll(() => server.close());

  const read = (onEvent: (data: string) => void) =>
    readEvents(api, '/', { query: {}, signal: AbortSignal.timeout(10_000) }, onEvent);

  it('gives the data of each event, until the connection breaks', async () => {
    const got: string[] = [];
    await read((data) => got.push(data));
    expect(got).toEqual(['one', 'two']);
  });

  it('passes on what the callback throws', async () => {
    const reading = read(() => {
      throw new Error('of the callback');
    });
    await expect(reading).rejects.toThrow('of the callback');
  });
});
