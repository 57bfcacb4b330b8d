import { needs } from '@weir/ops/testing';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { upstream } from '../testing/forwarding.js';
import { run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { startService, useCertificate } from '../testing/service.js';

const certificate = useCertificate();

async function serve() {
  const { endpoint } = await upstream((query) => respond(query, { answers: [a('192.0.2.1')] }));
  const { port, tlsPort, httpsPort } = await startService(
    { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, ...certificate },
    { source: { policy: policyOf(profile(1), loopback(1)) }, upstreams: [endpoint] },
  );
  const ask = (at: number | undefined, ...args: string[]) =>
    run('dig', ['@127.0.0.1', '-p', String(at), 'www.example.com', ...args]);
  return { ask, port, tlsPort, httpsPort };
}

const ADVERTISED = /TCP.KEEPALIVE: 10\.0 secs/;

describe('edns-tcp-keepalive (RFC 7828)', needs('dig'), () => {
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
