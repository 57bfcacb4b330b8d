import { concat } from '@weir/dns-wire/testing';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ClientAddress } from '@weir/policy';
import { ProxyHeaderReader } from './proxy-header-reader.js';
import { proxyHeader } from './testing/proxy-header.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const HEADER = proxyHeader({ source: 'c0000201', port: 1024 });
const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: block.example\r\n\r\n');
/** The longest start of a signature that does not match. */
const ALMOST = Buffer.from('\r\n\r\n\0\r\nQUIT!');

/** What the server has seen of one connection. */
interface Seen {
  /** The client; null until it is known. */
  client: { readonly word: number; readonly port: number } | null;
  isFault: boolean;
  isClosed: boolean;
  text: string;
}

/** A server that echoes what follows the header. */
async function serve(isOptional: boolean) {
  const seen: Seen[] = [];
  const take = (socket: Socket) => {
    const one: Seen = { client: null, isFault: false, isClosed: false, text: '' };
    seen.push(one);
    const client = new ClientAddress();
    client.set(socket.remoteAddress!, socket.remotePort!);
    socket.on('error', () => undefined).once('close', () => (one.isClosed = true));
    new ProxyHeaderReader({
      socket,
      client,
      nowMs: 0,
      isOptional,
      onClient: () => {
        one.client = { word: client.words[0], port: client.port };
        socket.on('data', (chunk: Buffer) => (one.text += chunk.toString('latin1')));
        socket.pipe(socket);
      },
      onError: () => {
        one.isFault = true;
        socket.destroy();
      },
    });
  };
  const server = createServer({ allowHalfOpen: true }, take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return { seen, port: (server.address() as AddressInfo).port };
}

/** Sends the pieces one after the other and ends. @returns what was answered, and the port that was sent from */
async function send(port: number, pieces: readonly Uint8Array[]) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  cleanups.push(() => socket.destroy());
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  const from = socket.localPort;
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await sleep(2);
    socket.write(piece);
  }
  socket.end();
  await closed;
  return { answer, from };
}

const bytewise = (bytes: Uint8Array) => Array.from(bytes, (byte) => Uint8Array.of(byte));

describe('ProxyHeaderReader whose header is optional', () => {
  const request = REQUEST.toString('latin1');

  it.each([
    ['at once', [concat(HEADER, REQUEST)]],
    ['byte by byte', bytewise(concat(HEADER, REQUEST))],
  ])('takes the client from a header that comes %s', async (_, pieces) => {
    const { seen, port } = await serve(true);
    expect((await send(port, pieces)).answer).toBe(request);
    expect(seen).toMatchObject([{ client: { word: 0xc000_0201, port: 1024 }, text: request }]);
  });

  it.each([
    ['at once', [REQUEST]],
    ['byte by byte', bytewise(REQUEST)],
    ['byte by byte, as a header up to its last byte', bytewise(ALMOST)],
  ])('uses the sender, and passes everything on, without a header: %s', async (_, pieces) => {
    const { seen, port } = await serve(true);
    const text = concat(...pieces);
    const { answer, from } = await send(port, pieces);
    expect(answer).toBe(Buffer.from(text).toString('latin1'));
    expect(seen).toMatchObject([{ client: { word: 0x7f00_0001, port: from }, text: answer }]);
  });

  it.each([
    ['at once', [proxyHeader({ source: 'c0000201', command: 0x2f })]],
    ['byte by byte', bytewise(proxyHeader({ source: 'c0000201', command: 0x2f }))],
  ])('reports a malformed header that comes %s', async (_, pieces) => {
    const { seen, port } = await serve(true);
    expect((await send(port, pieces)).answer).toBe('');
    expect(seen).toMatchObject([{ client: null, isFault: true }]);
  });

  it('closes a connection that ends before the header is complete', async () => {
    const { seen, port } = await serve(true);
    await send(port, [ALMOST.subarray(0, 11)]);
    await send(port, [HEADER.subarray(0, 20)]);
    await send(port, []);
    const closed = { client: null, isFault: false, isClosed: true };
    await expect.poll(() => seen).toMatchObject([closed, closed, closed]);
  });
});

describe('ProxyHeaderReader whose header is required', () => {
  it('reports a connection without a header', async () => {
    const { seen, port } = await serve(false);
    expect((await send(port, [REQUEST])).answer).toBe('');
    expect(seen).toMatchObject([{ client: null, isFault: true }]);
  });
});
