import { hashDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import { describe, expect, it } from 'vitest';
import { KEY } from '../testing/fixtures.js';
import {
  SpecialNameTable,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
  READINESS_ZONES,
  Special,
  type SpecialZone,
} from './special-names.js';

const hashes = new SuffixHashes(KEY);

function find(name: string, zones: readonly SpecialZone[] = [...LOCAL_ZONES, ...DISCOVERY_ZONES]) {
  const names = new SpecialNameTable(KEY, zones);
  hashes.compute(toWireName(name), 0);
  const special = names.find(hashes);
  return special === Special.none ? null : [special, names.labels];
}

const REVERSE_OF_LOOPBACK = `1.${'0.'.repeat(31)}ip6.arpa`;

describe('SpecialNameTable', () => {
  it.each([
    ['localhost', Special.localhost, 1],
    ['a.b.localhost', Special.localhost, 1],
    ['invalid', Special.nonexistent, 1],
    ['www.test', Special.nonexistent, 1],
    ['x.onion', Special.nonexistent, 1],
    ['printer.local', Special.nonexistent, 1],
    ['10.in-addr.arpa', Special.emptyZone, 3],
    ['4.3.2.10.in-addr.arpa', Special.emptyZone, 3],
    ['1.0.16.172.in-addr.arpa', Special.emptyZone, 4],
    ['1.0.31.172.in-addr.arpa', Special.emptyZone, 4],
    ['1.0.168.192.in-addr.arpa', Special.emptyZone, 4],
    ['9.127.100.in-addr.arpa', Special.emptyZone, 4],
    ['1.0.0.127.in-addr.arpa', Special.emptyZone, 3],
    ['1.1.254.169.in-addr.arpa', Special.emptyZone, 4],
    [REVERSE_OF_LOOPBACK, Special.emptyZone, 34],
    ['1.2.d.f.ip6.arpa', Special.emptyZone, 4],
    ['b.e.f.ip6.arpa', Special.emptyZone, 5],
    ['lamp.home.arpa', Special.emptyZone, 2],
    ['resolver.arpa', Special.emptyNames, 2],
    ['x.resolver.arpa', Special.emptyNames, 2],
    ['_dns.resolver.arpa', Special.empty, 3],
    ['x._dns.resolver.arpa', Special.empty, 3],
    ['use-application-dns.net', Special.nonexistent, 2],
    ['mask.icloud.com', Special.nonexistent, 3],
    ['mask-h2.icloud.com', Special.nonexistent, 3],
  ])('finds %s', (name, special, labels) => {
    expect(find(name)).toEqual([special, labels]);
  });

  it.each([
    '.',
    'example.com',
    'localhost.example',
    'arpa',
    'in-addr.arpa',
    '172.in-addr.arpa',
    '15.172.in-addr.arpa',
    '32.172.in-addr.arpa',
    '63.100.in-addr.arpa',
    '128.100.in-addr.arpa',
    '11.in-addr.arpa',
    'c.e.f.ip6.arpa',
    '2.0.0.0.ip6.arpa',
    'application-dns.net',
    'icloud.com',
    'www.icloud.com',
    'net',
  ])('finds nothing in %s', (name) => {
    expect(find(name)).toBeNull();
  });

  it('finds the readiness name, and nothing else in its zone', () => {
    const zones = [...READINESS_ZONES, ...LOCAL_ZONES];
    expect(find('ready.weir.invalid', zones)).toEqual([Special.ready, 3]);
    expect(find('weir.invalid', zones)).toEqual([Special.nonexistent, 1]);
    expect(find('weir.invalid', READINESS_ZONES)).toBeNull();
    const table = new SpecialNameTable(KEY, zones);
    const isAbove = (name: string) => {
      const hashes = new SuffixHashes(KEY);
      hashes.compute(toWireName(name), 0);
      table.find(hashes);
      return table.isAbove;
    };
    expect(['invalid', 'weir.invalid'].map(isAbove)).toEqual([true, true]);
    expect(['ready.weir.invalid', 'x.invalid', 'y.weir.invalid'].map(isAbove)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('finds only the names of its own list', () => {
    expect(find('localhost', DISCOVERY_ZONES)).toBeNull();
    expect(find('_dns.resolver.arpa', LOCAL_ZONES)).toEqual([Special.emptyNames, 2]);
    expect(find('_dns.resolver.arpa', DISCOVERY_ZONES)).toEqual([Special.empty, 3]);
    expect(find('localhost', [])).toBeNull();
  });

  it('has no duplicate zones', () => {
    const names = [...LOCAL_ZONES, ...DISCOVERY_ZONES].map(([name]) => hashDomain(name, KEY));
    expect(new Set(names).size).toBe(names.length);
  });
});
