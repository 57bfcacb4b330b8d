import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { Authority, type Identity } from '../testing/authority.js';
import { askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { createService, startService } from '../testing/service.js';
import type { Answerer } from '../testing/upstream-server.js';

const AD = 0x20;
const source = { policy: policyOf(profile(1), loopback(1)) };
/** An upstream that says that it has validated the answer. */
const validated: Answerer = (query) =>
  respond(query, { flags: 0x8180 | AD, answers: [a('192.0.2.1')] });

let folder = '';
let identity: Identity;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-authentic-data-'));
  identity = new Authority(folder).issue('dns.example');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Asks twice, with AD, as a client that wants to know. @returns AD of the first answer, and of the cached one */
async function adOf(server: Parameters<typeof askUdp>[0]): Promise<boolean[]> {
  const bits: boolean[] = [];
  for (let i = 0; i < 2; i++) {
    const answer = await askUdp(server, encodeQuery('www.example.com', 1, { flags: 0x0100 | AD }));
    const { flags, answers } = decodeMessage(answer!);
    expect(answers).toHaveLength(1);
    bits.push((flags & AD) !== 0);
  }
  return bits;
}

describe('AD of an upstream (RFC 4035 §3.2.3)', () => {
  it('is cleared over plain UDP, in cached answers too', async () => {
    const { endpoint, asked } = await upstream(validated);
    const server = await startService({}, { source, upstreams: [endpoint] });
    expect(await adOf(server)).toEqual([false, false]);
    expect(asked).toHaveLength(1);
  });

  it('is passed on from one that UPSTREAM_TRUST_AD names, and from no other', async () => {
    const { endpoint } = await upstream(validated);
    const other = await upstream(validated);
    const upstreams = [endpoint, other.endpoint];
    const trusting = { UPSTREAM_TRUST_AD: [endpoint] };
    expect(await adOf(await startService(trusting, { source, upstreams }))).toEqual([true, true]);
    const trustsOther = { UPSTREAM_TRUST_AD: [other.endpoint] };
    expect(await adOf(await startService(trustsOther, { source, upstreams }))).toEqual([
      false,
      false,
    ]);
  });

  it('is passed on over TLS', async () => {
    const { endpoint } = await upstream(validated, undefined, { identity });
    const overTls = { ...endpoint, tls: { pin: identity.pin } };
    const server = await startService({}, { source, upstreams: [overTls] });
    expect(await adOf(server)).toEqual([true, true]);
  });

  it('cannot be trusted of one that is not asked', async () => {
    const { endpoint } = await upstream(validated);
    const UPSTREAM_TRUST_AD = [{ address: '192.0.2.53', port: 53 }];
    expect(() => createService({ UPSTREAM_TRUST_AD }, { source, upstreams: [endpoint] })).toThrow(
      'UPSTREAM_TRUST_AD: 192.0.2.53:53 is not among the upstreams',
    );
  });
});
