import fc from 'fast-check';
import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hasPrivateAddresses, PrivateAddressRemoval } from './private-addresses.js';
import { Flag } from './protocol.js';
import { parseResponse, Response } from './response.js';
import { decodeMessage } from './testing/decode.js';
import {
  bytesOf,
  concat,
  encodeMessage,
  pointerTo,
  type TestRecord,
  uint16,
  wireName,
} from './testing/message.js';

const [A, CNAME, TXT, AAAA, RRSIG, SVCB, HTTPS] = [1, 5, 16, 28, 46, 64, 65];
const PRIVATE_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
];
const PRIVATE_IPV6 = ['::/128', '::1/128', 'fc00::/7', 'fe80::/10', 'fec0::/10'];

const ipv4Text = (address: Uint8Array) => address.join('.');
const ipv6Text = (address: Uint8Array) =>
  Array.from({ length: 8 }, (_, i) =>
    Buffer.from(address)
      .readUInt16BE(2 * i)
      .toString(16),
  ).join(':');
const bytesOfIpv4 = (text: string) => text.split('.').map(Number);

/** The slow way: as text, by the networks of Node. */
const ipv4List = new BlockList();
const ipv6List = new BlockList();
for (const network of PRIVATE_IPV4) {
  const [address, bits] = network.split('/');
  ipv4List.addSubnet(address, Number(bits), 'ipv4');
}
for (const network of PRIVATE_IPV6) {
  const [address, bits] = network.split('/');
  ipv6List.addSubnet(address, Number(bits), 'ipv6');
}
function isPrivate(address: Uint8Array): boolean {
  if (address.length === 4) return ipv4List.check(ipv4Text(address), 'ipv4');
  const text = ipv6Text(address);
  if (ipv6List.check(text, 'ipv6')) return true;
  const isEmbedded = ['0:0:0:0:0:0:', '0:0:0:0:0:ffff:', '64:ff9b:0:0:0:0:'].some((prefix) =>
    text.startsWith(prefix),
  );
  if (isEmbedded) return isPrivate(address.subarray(12));
  return text.startsWith('2002:') && isPrivate(address.subarray(2, 6));
}

/** An address in a network, at one of its ends, or beside it; or any address. */
const ipv4 = fc
  .tuple(fc.constantFrom(...PRIVATE_IPV4), fc.constantFrom(-1, 0, 1, 2, 3), fc.integer())
  .map(([network, place, any]) => {
    const [text, bits] = network.split('/');
    const first = Buffer.from(bytesOfIpv4(text)).readUInt32BE(0);
    const size = 2 ** (32 - Number(bits));
    const addresses = [first, first + size - 1, first + size, any];
    const address = Buffer.alloc(4);
    address.writeInt32BE((place < 0 ? first - 1 : addresses[place]) | 0);
    return Uint8Array.from(address);
  });
const ipv6 = fc
  .tuple(
    ipv4,
    fc.constantFrom(
      '',
      '00000000',
      '0000ffff',
      '0064ff9b',
      '2002',
      'fbff',
      'fc00',
      'fdff',
      'fe00',
      'fe7f',
      'fe80',
      'feff',
      'ff00',
      '20010db8',
    ),
    fc.constantFrom('', '00', '01'),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    fc.boolean(),
  )
  .map(([inner, prefix, fill, any, isLast]) => {
    const address = fill === '' ? Uint8Array.from(any) : new Uint8Array(16).fill(Number(fill));
    const isMapped = prefix === '0000ffff';
    if (isMapped) address.fill(0, 0, 8);
    address.set(bytesOf(prefix), isMapped ? 8 : 0);
    address.set(inner, isLast ? 12 : 2);
    return address;
  });

const QNAME = pointerTo(12);
const record = (type: number, rdata: Uint8Array | readonly number[]): TestRecord => ({
  owner: QNAME,
  type,
  ttl: 300,
  rdata: Uint8Array.from(rdata),
});
const param = (key: number, ...values: (Uint8Array | readonly number[])[]) => {
  const value = concat(...values);
  return concat(uint16(key), uint16(value.length), value);
};
const service = (type: number, ...params: Uint8Array[]) =>
  record(type, concat(uint16(1), wireName('svc.example'), ...params));
const signature = (covered: number) =>
  record(RRSIG, concat(uint16(covered), new Array<number>(20).fill(1)));

const PUBLIC4 = bytesOfIpv4('192.0.2.1');
const PUBLIC6 = bytesOf('20010db8000000000000000000000001');
const LOOPBACK = bytesOfIpv4('127.0.0.1');
const UNIQUE_LOCAL = bytesOf('fd000000000000000000000000000001');

const response = new Response();
function parse(answers: readonly TestRecord[], qtype = A, authorities: readonly TestRecord[] = []) {
  const questions = [{ qname: wireName('www.example.com'), qtype }];
  const bytes = encodeMessage({ flags: 0x81a0, questions, answers, authorities });
  expect(parseResponse(bytes, bytes.length, response)).toBe(true);
  return response;
}
/** Its counts are not in its bytes. */
function messageOf({ bytes, recordsEnd, answerCount, authorityCount }: Response): Uint8Array {
  const counts = concat(uint16(1), uint16(answerCount), uint16(authorityCount), uint16(0));
  return concat(bytes.slice(0, 4), counts, bytes.slice(12, recordsEnd));
}
const has = (...answers: TestRecord[]) => hasPrivateAddresses(parse(answers));

describe('hasPrivateAddresses', () => {
  it('agrees with a slow oracle about addresses, and about hints in HTTPS and SVCB records', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        const expected = isPrivate(address);
        seen[`${expected}`]++;
        const isIpv4 = address.length === 4;
        const others = isIpv4 ? PUBLIC4 : PUBLIC6;
        expect(
          has(record(isIpv4 ? A : AAAA, address)),
          isIpv4 ? ipv4Text(address) : ipv6Text(address),
        ).toBe(expected);
        const hints = [param(1, [2, 0x68, 0x32]), param(isIpv4 ? 4 : 6, others, address)];
        for (const type of [HTTPS, SVCB]) expect(has(service(type, ...hints))).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(1_000);
  });

  it('finds them in every record of answer and authority section, whatever was asked', () => {
    const others = Array.from({ length: 20 }, () => record(A, PUBLIC4));
    expect(has(...others)).toBe(false);
    expect(has(...others, record(AAAA, UNIQUE_LOCAL))).toBe(true);
    expect(hasPrivateAddresses(parse([], A, [record(A, LOOPBACK)]))).toBe(true);
  });

  it('reads no other types, no other parameters, and nothing after a malformed one', () => {
    expect(has(record(TXT, LOOPBACK), record(A, [...LOOPBACK, 0]), record(AAAA, LOOPBACK))).toBe(
      false,
    );
    expect(has(service(HTTPS, param(5, LOOPBACK)))).toBe(false);
    expect(
      has(record(HTTPS, [0, 1]), record(HTTPS, [0, 1, 63]), service(HTTPS, Uint8Array.of(0, 4))),
    ).toBe(false);
    expect(has(service(HTTPS, concat(uint16(4), uint16(5), LOOPBACK)))).toBe(false);
    expect(has(service(HTTPS, param(4, LOOPBACK.slice(0, 3))))).toBe(false);
  });
});

describe('PrivateAddressRemoval', () => {
  const removal = new PrivateAddressRemoval();
  const remove = (answers: readonly TestRecord[], qtype = A) => {
    const rest = removal.remove(parse(answers, qtype), qtype);
    if (rest === null) return null;
    const types = decodeMessage(messageOf(rest)).answers.map(({ type }) => type);
    return { types, isAuthentic: (rest.flags & Flag.ad) !== 0, ede: rest.ede };
  };

  it('leaves the public ones, without signatures and AD, with EDE 15', () => {
    const cname = record(CNAME, wireName('edge.example.net'));
    expect(remove([cname, record(A, LOOPBACK), record(A, PUBLIC4), signature(A)])).toEqual({
      types: [CNAME, A],
      isAuthentic: false,
      ede: 15,
    });
    const services = [service(HTTPS, param(4, LOOPBACK)), service(HTTPS, param(4, PUBLIC4))];
    expect(remove(services, HTTPS)).toMatchObject({ types: [HTTPS] });
  });

  it('leaves nothing when no record of the type that was asked is left', () => {
    const cname = record(CNAME, wireName('edge.example.net'));
    expect(remove([cname, record(A, LOOPBACK), signature(CNAME)])).toBeNull();
    expect(remove([record(A, PUBLIC4), record(AAAA, UNIQUE_LOCAL)], AAAA)).toBeNull();
  });

  it('leaves what a slow oracle leaves, in the same order', () => {
    const addresses = fc.array(fc.oneof(ipv4, ipv6), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(addresses, (all) => {
        const typeOf = (address: Uint8Array) => (address.length === 4 ? A : AAAA);
        const left = all.filter((address) => !isPrivate(address));
        const rest = removal.remove(parse(all.map((one) => record(typeOf(one), one))), A);
        expect(rest !== null).toBe(left.some((one) => typeOf(one) === A));
        if (rest === null) return;
        const { answers } = decodeMessage(messageOf(rest));
        expect(answers.map(({ rdata }) => Uint8Array.from(rdata))).toEqual(left);
      }),
    );
  });
});
