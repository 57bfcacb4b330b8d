import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discardRest } from './error.filter.js';

const CHUNKS = 50;

describe('the rest of the body of an answered request', () => {
  let server: Server;
  let turns = 0;
  let turnsAtEnd: Promise<number>;

  beforeAll(async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    turnsAtEnd = promise;
    server = createServer((request, response) => {
      response.end();
      discardRest(request);
      request.once('end', () => {
        resolve(turns);
      });
    });
    await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(null)));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is read slowly: others have their turns between two chunks', async () => {
    const body = Buffer.alloc(CHUNKS * 65_536);
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const other = (): void => {
      turns++;
      next = setImmediate(other);
    };
    let next = setImmediate(other);
    socket.resume().write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    expect(await turnsAtEnd).toBeGreaterThan(CHUNKS);
    clearImmediate(next);
    socket.destroy();
  });
});
