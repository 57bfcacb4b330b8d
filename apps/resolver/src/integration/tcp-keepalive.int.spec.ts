import { createLogger } from '@weir/ops';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DnsService } from '../dns-service.js';
import { a } from '../query/testing/records.js';
import { makeCertificate } from '../testing/certificate.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { hasProgram, run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { UpstreamServer } from '../testing/upstream-server.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-keepalive-'));
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

async function serve() {
  const upstream = await UpstreamServer.start((query) =>
    respond(query, { answers: [a('192.0.2.1')] }),
  );
  cleanups.push(() => upstream.stop());
  const secure = { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, DNS_TLS_CERT, DNS_TLS_KEY };
  const service = new DnsService({
    configuration: { ...CONFIGURATION, ...secure },
    upstreams: [upstream.endpoint],
    source: { policy: policyOf(profile(1), loopback(1)) },
    log: createLogger({ name: 'resolver', level: 'silent' }),
  });
  const { port, tlsPort, httpsPort } = await service.start();
  cleanups.push(() => service.stop());
  const ask = (at: number | undefined, ...args: string[]) =>
    run('dig', ['@127.0.0.1', '-p', String(at), '+tries=1', 'www.example.com', ...args]);
  return { ask, port, tlsPort, httpsPort };
}

const ADVERTISED = /TCP.KEEPALIVE: 10\.0 secs/;

describe.skipIf(!hasProgram('dig'))('edns-tcp-keepalive (RFC 7828)', () => {
  it('tells the idle timeout over TCP, for new and for cached answers', async () => {
    const { ask, port } = await serve();
    for (let i = 0; i < 2; i++) {
      expect(await ask(port, '+tcp', '+keepalive')).toMatch(ADVERTISED);
    }
    expect(await ask(port, '+tcp', '+keepalive', '+norec', 'x.example')).toMatch(ADVERTISED);
  });

  it('tells it over TLS', async () => {
    const { ask, tlsPort } = await serve();
    expect(await ask(tlsPort, '+tls', '+keepalive')).toMatch(ADVERTISED);
  });

  it('does not tell it without the option, over UDP, or over HTTPS', async () => {
    const { ask, port, httpsPort } = await serve();
    expect(await ask(port, '+tcp')).toMatch(/NOERROR(?![^]*KEEPALIVE)/);
    expect(await ask(port, '+notcp', '+keepalive')).toMatch(/NOERROR(?![^]*KEEPALIVE)/);
    expect(await ask(httpsPort, '+https', '+keepalive')).toMatch(/NOERROR(?![^]*KEEPALIVE)/);
  });
});
