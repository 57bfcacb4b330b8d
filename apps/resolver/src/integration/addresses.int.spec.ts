import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { freePort } from '@weir/ops/testing';
import { loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { createService, startService, useCertificate } from '../testing/service.js';

const certificate = useCertificate();

const policy = policyOf(
  profile(1, { whiteListOnly: true }),
  loopback(1),
  put('ipv6Network', { address: [0, 0, 0, 1], prefixLength: 128, profileId: 1 }),
);

const start = (configuration: Partial<DnsConfiguration>) =>
  startService(configuration, { source: { policy } });

const query = encodeQuery('www.example.com', 1, { udpBytes: 1232 });
const page = (answer: Uint8Array | null) => hexOf(decodeMessage(answer!).answers[0].rdata);

function handshake(host: string, port: number, protocol: string) {
  return new Promise<unknown>((resolve, reject) => {
    const ca = readFileSync(certificate.DNS_TLS_CERT);
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
    const secure = { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, ...certificate };
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
    // Free on the first address.
    const port = await freePort();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.3', resolve));
    onTestFinished(() => void taken.close());
    const DNS_HOST = ['127.0.0.1', '127.0.0.3'];
    const service = createService({ DNS_HOST, DNS_PORT: port }, { source: { policy } });
    await expect(service.start()).rejects.toThrow(
      `127.0.0.3:${port} is in use by another process (DNS_PORT)`,
    );
    await expect(askOneTcp({ address: '127.0.0.1', port }, query)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});
