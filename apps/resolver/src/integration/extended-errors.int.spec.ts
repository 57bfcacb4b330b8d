import { encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { needs } from '@weir/ops/testing';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { a, cname } from '../query/testing/records.js';
import { udpClient } from '../testing/client.js';
import { silentUpstream, upstream } from '../testing/forwarding.js';
import { run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { createService, type TestServiceOptions } from '../testing/service.js';

const LOOPBACK = parseCidrs(['127.0.0.0/8']);

async function serve(
  configuration: Partial<DnsConfiguration>,
  options: Partial<TestServiceOptions> = {},
) {
  const service = createService(configuration, { source: { policy: policyOf() }, ...options });
  const server = await service.start();
  onTestFinished(() => service.stop());
  const dig = (...question: string[]) =>
    run('dig', [`@${server.address}`, '-p', String(server.port), ...question]);
  return { server, service, dig };
}

describe('the reason that dig prints', needs('dig'), () => {
  it('for a client that is not served', async () => {
    const { dig } = await serve({ DNS_ALLOWED_CLIENTS: parseCidrs([]) });
    expect(await dig('www.example.com')).toContain(
      'EDE: 18 (Prohibited): (not a client of this resolver)',
    );
  });

  it('before the first configuration', async () => {
    const { dig } = await serve({}, { source: { policy: null } });
    expect(await dig('www.example.com')).toContain(
      'EDE: 14 (Not Ready): (this resolver is not ready)',
    );
  });

  it('for a type that cannot be queried (RFC 9824 §3.5)', async () => {
    const { dig } = await serve({});
    expect(await dig('www.example.com', 'TYPE128')).toContain('EDE: 30');
  });

  it('for a subscriber beyond his share of upstream queries', async () => {
    const silent = await silentUpstream();
    const { dig, server, service } = await serve(
      { DNS_ALLOWED_CLIENTS: LOOPBACK, CLIENT_UPSTREAM_QUERIES: 1 },
      { upstreams: [silent.endpoint] },
    );
    const socket = await udpClient();
    socket.send(encodeQuery('first.example', 1), server.port, server.address);
    await expect.poll(() => service.counts.forwarding.inFlight).toBe(1);
    expect(await dig('second.example')).toContain(
      'EDE: 0 (Other): (too many queries wait for upstream resolvers)',
    );
  });

  it('for an answer with too many targets', async () => {
    const answers = [
      ...Array.from({ length: 33 }, (_, i) => cname(`t${i}.example`)),
      a('192.0.2.1'),
    ];
    const server = await upstream((query) => respond(query, { answers }));
    const { dig } = await serve(
      {},
      { upstreams: [server.endpoint], source: { policy: policyOf(profile(1), loopback(1)) } },
    );
    expect(await dig('www.example.com')).toContain(
      'EDE: 0 (Other): (too many targets in the answer)',
    );
  });
});
