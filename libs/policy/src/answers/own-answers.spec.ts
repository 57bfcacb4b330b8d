import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { parseQuery, Query } from '@weir/dns-wire';
import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { expect, it } from 'vitest';
import { Decision } from '../decision.js';
import { BlockErrors } from './block-errors.js';
import { BlockPages } from './block-pages.js';
import { OwnAnswers } from './own-answers.js';
import { ServerInformation } from './server-information.js';
import { DESIGNATION_ZONES, SpecialMatch, SpecialNameTable } from './special-names.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const LIMIT = 1232;

it('has no TTL beyond the next switch of the schedule, also about this resolver (decisions §5)', () => {
  const own = new OwnAnswers({
    pages: new BlockPages([], new Map()),
    ordersPageId: -1,
    blockErrors: new BlockErrors({
      source: { policy: null },
      hasText: false,
      provider: { name: undefined, contacts: [] },
    }),
    blockTtlSeconds: 60,
    designatedResolvers: [Uint8Array.of(0, 1, 0)],
  });
  const decision = new Decision();
  const out = new Uint8Array(LIMIT);
  const asked = (name: string, type: number) => {
    const bytes = encodeQuery(name, type);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    return { bytes, query };
  };
  const ttlOf = (length: number) => decodeMessage(out.slice(0, length)).answers[0].ttl;
  for (const [cap, ttl] of [
    [41, 41],
    [10_000, 300],
  ]) {
    decision.ttlCapSeconds = cap;
    const info = asked('resolver.arpa', 261);
    const records = new ServerInformation().find(info.bytes, info.query)!;
    expect(ttlOf(own.writeServer(out, info, records, decision, LIMIT))).toBe(ttl);
    const svcb = asked('_dns.resolver.arpa', 64);
    const hashes = new SuffixHashes(KEY);
    hashes.compute(svcb.bytes, 12);
    const special = new SpecialMatch();
    special.find(new SpecialNameTable(KEY, DESIGNATION_ZONES), svcb.bytes, hashes);
    expect(ttlOf(own.writeSpecial(out, svcb, special, decision, LIMIT))).toBe(ttl);
  }
});
