import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { createLogger } from '@weir/ops';
import { loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DnsConfiguration, DnsService } from '../dns-service.js';
import { makeCertificate } from '../testing/certificate.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { CONFIGURATION } from '../testing/configuration.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-addresses-'));
const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
beforeAll(() => {
  makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const policy = policyOf(
  profile(1, { whiteListOnly: true }),
  loopback(1),
  put('ipv6Network', { address: [0, 0, 0, 1], prefixLength: 128, profileId: 1 }),
);

function service(configuration: Partial<DnsConfiguration>) {
  return new DnsService({
    configuration: { ...CONFIGURATION, ...configuration },
    upstreams: [],
    source: { policy },
    log: createLogger({ name: 'resolver', level: 'silent' }),
  });
}

async function start(configuration: Partial<DnsConfiguration>) {
  const running = service(configuration);
  const bound = await running.start();
  cleanups.push(() => running.stop());
  return bound;
}

const query = encodeQuery('www.example.com', 1, { udpBytes: 1232 });
const page = (answer: Uint8Array | null) => hexOf(decodeMessage(answer!).answers[0].rdata);

function handshake(host: string, port: number, protocol: string) {
  return new Promise<unknown>((resolve, reject) => {
    const ca = readFileSync(DNS_TLS_CERT);
    const ALPNProtocols = [protocol];
    const checkServerIdentity = () => undefined;
    const socket = connectTls({ host, port, ca, ALPNProtocols, checkServerIdentity }, () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('a resolver with several addresses', () => {
  it('answers on each of them over UDP, TCP, TLS and HTTPS, on the same ports', async () => {
    const DNS_HOST = ['127.0.0.1', '127.0.0.2', '::1'];
    const secure = { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, DNS_TLS_CERT, DNS_TLS_KEY };
    const { addresses, port, tlsPort, httpsPort } = await start({ DNS_HOST, ...secure });
    expect(addresses).toEqual(DNS_HOST);
    for (const address of DNS_HOST) {
      expect(page(await askUdp({ address, port }, query))).toBe('c0000250');
      expect(page(await askOneTcp({ address, port }, query))).toBe('c0000250');
      expect(await handshake(address, tlsPort!, 'dot')).toBe('dot');
      expect(await handshake(address, httpsPort!, 'h2')).toBe('h2');
    }
  });

  it('listens on all addresses of both families', async () => {
    const { port } = await start({ DNS_HOST: ['0.0.0.0', '::'] });
    for (const address of ['127.0.0.1', '::1']) {
      expect(page(await askUdp({ address, port }, query))).toBe('c0000250');
      expect(page(await askOneTcp({ address, port }, query))).toBe('c0000250');
    }
  });

  it('names the address whose port is taken, and listens on none', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.3', resolve));
    cleanups.push(() => taken.close());
    const { port } = taken.address() as { port: number };
    const DNS_HOST = ['127.0.0.1', '127.0.0.3'];
    await expect(service({ DNS_HOST, DNS_PORT: port }).start()).rejects.toThrow(
      `127.0.0.3:${port} is in use by another process (DNS_PORT)`,
    );
    await expect(askOneTcp({ address: '127.0.0.1', port }, query)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});
