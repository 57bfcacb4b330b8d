import { encodeQuery } from '@weir/dns-wire/testing';

/** A part of the load: a kind of query, and its number per hundred queries. */
interface Share {
  readonly weight: number;
  readonly query: (n: number) => Uint8Array;
}

const edns = { udpBytes: 1232 };
const popular = (n: number): string => `p${(n * n) % 300}.popular.example.com`;

/** A model of real traffic: mostly the same names, some new ones, some blocked ones, some invalid queries. */
const SHARES: readonly Share[] = [
  { weight: 50, query: (n) => encodeQuery(popular(n), n % 3 === 0 ? 28 : 1, edns) },
  { weight: 20, query: (n) => encodeQuery(`u${n}.unique.example.com`, 1, edns) },
  { weight: 12, query: (n) => encodeQuery(`b${n % 50}.blocked.example`, 1, edns) },
  { weight: 5, query: (n) => encodeQuery(`x${n}.absent.example.com`, 1, edns) },
  { weight: 4, query: (n) => encodeQuery(`l${n % 20}.large.example.com`, 16, edns) },
  { weight: 4, query: (n) => encodeQuery(popular(n), 1) },
  { weight: 3, query: () => encodeQuery('4.3.2.10.in-addr.arpa', 12) },
  { weight: 2, query: (n) => encodeQuery(popular(n), 1, { ...edns, flags: 0x2000 }) },
];
const TABLE = SHARES.flatMap((share) => Array.from({ length: share.weight }, () => share));

/** The n-th query of the load, with id 0. The order is fixed and well mixed. */
export function queryAt(n: number): Uint8Array {
  const packet = TABLE[(n * 37) % TABLE.length].query(n);
  return packet.with(0, 0).with(1, 0);
}
