import { encodeQuery } from '@weir/dns-wire/testing';
import { TlsIdentity } from '@weir/ops';
import { makeCertificate } from '@weir/ops/testing';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TlsAcceptor } from '../listeners/tls-acceptor.js';
import { TcpConnection } from '../listeners/tcp-connection.js';
import { Exchange, Transport } from '../query/exchange.js';
import { EchoHandler } from '../testing/echo-handler.js';
import { startTcp } from '../testing/listeners.js';
import { frame } from '../testing/upstream-server.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-dot-'));
const file = (name: string) => join(folder, name);
const [cert, key] = [file('live.crt'), file('live.key')];
/** In one step, as a tool that renews certificates does it: nobody reads half a file. */
const replace = (from: string, to: string) => {
  copyFileSync(from, `${to}.new`);
  renameSync(`${to}.new`, to);
};
const use = (name: string) => {
  replace(file(`${name}.crt`), cert);
  replace(file(`${name}.key`), key);
};

const cleanups: (() => unknown)[] = [];
beforeAll(() => {
  for (const name of ['one', 'two']) makeCertificate(file(`${name}.crt`), file(`${name}.key`));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A log of its own for each test: a check of the one before may still end, and log. */
const logTo = (events: unknown[]) => ({
  info: (_: object, text: string) => events.push(text),
  warn: (details: object, text: string) => events.push(text, details),
});

async function start() {
  use('one');
  const events: unknown[] = [];
  const log = logTo(events);
  const identity = TlsIdentity.open({ names: { prefix: 'DNS_TLS', cert, key }, log, checkMs: 20 })!;
  const acceptor = new TlsAcceptor(new Uint8Array(32));
  const useFiles = () => {
    acceptor.use(identity.serverOptions());
  };
  useFiles();
  identity.attach({ setSecureContext: useFiles });
  const handler = new EchoHandler();
  const exchange = new Exchange();
  const { server, listener, counters, unread, turns } = await startTcp({
    idleMs: 60_000,
    connect: (socket, client, idleMs) =>
      new TcpConnection({
        socket: acceptor.accept(socket, ['dot']),
        client,
        idleMs,
        transport: Transport.tls,
        handler,
        counters,
        exchange,
        unread,
        turns,
        nowMs: () => performance.now(),
      }),
  });
  cleanups.push(() => {
    listener.stop();
    identity.close();
  });
  const open = (ca: string, options = {}) =>
    new Promise<TLSSocket>((resolve, reject) => {
      const trusted = readFileSync(file(ca));
      const socket = connect({ host: server.address, port: server.port, ca: trusted, ...options });
      cleanups.push(() => socket.destroy());
      socket.once('secureConnect', () => {
        resolve(socket);
      });
      socket.once('error', reject);
    });
  return { server, listener, open, events };
}

const answers = (socket: TLSSocket) =>
  new Promise<number>((resolve) => {
    socket.once('data', (bytes: Buffer) => {
      resolve(bytes.readUInt16BE(2));
    });
    socket.write(frame(encodeQuery('www.example.com', 1, { id: 77 })));
  });

const IN_FORCE = 'a new version of the certificate and its key is in force';

describe('TlsIdentity and TlsAcceptor', () => {
  it('uses a renewed certificate for the next client, and keeps open connections', async () => {
    const { open, events } = await start();
    const first = await open('one.crt');
    expect(await answers(first)).toBe(77);
    use('two');
    await expect.poll(() => events).toContain(IN_FORCE);
    expect(await answers(await open('two.crt'))).toBe(77);
    expect(await answers(first)).toBe(77);
    await expect(open('one.crt')).rejects.toThrow(/self-signed/);
  });

  it('keeps the old certificate while the files do not match, and logs that once', async () => {
    const { open, events } = await start();
    replace(file('two.crt'), cert);
    const reason = 'DNS_TLS_KEY is not the key of the certificate of DNS_TLS_CERT';
    await expect
      .poll(() => events)
      .toEqual(['the certificate and its key were not replaced', { reason }]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(events).toHaveLength(2);
    expect(await answers(await open('one.crt'))).toBe(77);
    replace(file('two.key'), key);
    await expect.poll(() => events).toContain(IN_FORCE);
  });

  it('accepts TLS 1.2 and above, and only its own ALPN protocol', async () => {
    const { open } = await start();
    const own = await open('one.crt', { ALPNProtocols: ['dot'], maxVersion: 'TLSv1.2' });
    expect(own).toMatchObject({ alpnProtocol: 'dot' });
    await expect(open('one.crt', { ALPNProtocols: ['h2'] })).rejects.toThrow(/no application/);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(open('one.crt', old)).rejects.toThrow();
  });

  it('survives bytes that are not a handshake', async () => {
    const { server, open } = await start();
    for (const bytes of ['GET / HTTP/1.0\r\n\r\n', '\x16\x03\x01\x00\x05hello', '\0']) {
      const socket = connectPlain(server.port, server.address);
      socket.on('error', () => socket.destroy());
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.end(Buffer.from(bytes, 'latin1'));
      socket.resume();
      await closed;
    }
    expect(await answers(await open('one.crt'))).toBe(77);
  });

  it('is null without a certificate and fails with one that is none', () => {
    const log = logTo([]);
    const names = { prefix: 'DNS_TLS', cert: undefined, key: undefined };
    expect(TlsIdentity.open({ names, log })).toBeNull();
    writeFileSync(file('nonsense'), 'nonsense');
    const bad = { prefix: 'DNS_TLS', cert: file('nonsense'), key: file('one.key') };
    expect(() => TlsIdentity.open({ names: bad, log })).toThrow(
      /^DNS_TLS_CERT must name a PEM file/,
    );
  });
});
