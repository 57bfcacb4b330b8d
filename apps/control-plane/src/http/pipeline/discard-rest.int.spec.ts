import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { discardRest } from './error.filter.js';

const CHUNKS = 50;

describe('the rest of the body of an answered request', () => {
  let server: Server;
  let turns = 0;
  let ended: PromiseWithResolvers<number>;

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.end();
      discardRest(request);
      request
        .once('error', () => undefined)
        .once('close', () => {
          if (request.complete) ended.resolve(turns);
          else ended.reject(new Error('it was not read to its end'));
        });
    });
    await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(null)));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  beforeEach(() => {
    ended = Promise.withResolvers();
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
    expect(await ended.promise).toBeGreaterThan(CHUNKS);
    clearImmediate(next);
    socket.destroy();
  });

  it('is read to its end when it came while this process was held up', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const answered = once(socket, 'data');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{');
    await answered;
    await new Promise((written) => socket.write('}', written));
    // Longer than a client may pause.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    await ended.promise;
    socket.destroy();
  });
});
