import { describe, expect, it } from 'vitest';
import {
  MAX_ADDRESSES,
  writeAnyAnswer,
  writeAddressAnswer,
  MAX_EDE_TEXT_BYTES,
  writeEmptyAnswer,
  writeNegativeAnswer,
  writeTruncatedAnswer,
  writeZoneAnswer,
} from './answer.js';
import { extendedError, NO_EXTENDED_ERROR } from './opt.js';
import { Ede, Rcode, Type } from './protocol.js';
import { parseQuery, Query } from './query.js';
import { decodeMessage, decodeOptions } from './testing/decode.js';
import { bytesOf, encodeMessage, encodeQuery, hexOf } from './testing/message.js';

const query = new Query();
const out = new Uint8Array(1232);
const NO_ADDRESS = new Uint8Array(0);
const FILTERED = extendedError(Ede.filtered);
const IPV4 = Uint8Array.of(192, 0, 2, 1, 192, 0, 2, 2);
const IPV6 = bytesOf('20010db8000000000000000000000001');

function answer(
  packet: Uint8Array,
  write: (out: Uint8Array, packet: Uint8Array, query: Query) => number,
) {
  parseQuery(packet, packet.length, query);
  out.fill(0xee);
  return out.slice(0, write(out, packet, query));
}

const block = (packet: Uint8Array, ipv4 = IPV4, ipv6 = IPV6) =>
  answer(packet, (...to) => writeAddressAnswer(...to, ipv4, ipv6, 10, FILTERED));

describe('writeAddressAnswer', () => {
  it('answers an A query with the IPv4 addresses of the page, byte for byte', () => {
    expect(hexOf(block(encodeQuery('WwW.example.com', 1, { udpBytes: 4096 })))).toBe(
      [
        '1234 8180 0001 0002 0000 0001', // QR RD RA, NOERROR
        '03577757076578616d706c6503636f6d00 0001 0001', // the name in its own case
        'c00c 0001 0001 0000000a 0004 c0000201',
        'c00c 0001 0001 0000000a 0004 c0000202',
        '00 0029 04d0 00 00 0000 0006 000f 0002 0011', // OPT 1232, EDE 17 Filtered
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });

  it('answers an AAAA query with the IPv6 addresses, and without OPT for a query without OPT', () => {
    expect(hexOf(block(encodeQuery('example.com', 28, { flags: 0x0010 })))).toBe(
      [
        '1234 8090 0001 0001 0000 0000', // QR RA CD
        '076578616d706c6503636f6d00 001c 0001',
        'c00c 001c 0001 0000000a 0010 20010db8000000000000000000000001',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });

  it.each([Type.https, Type.svcb, Type.txt, Type.any])('has no record for type %i', (qtype) => {
    const message = decodeMessage(block(encodeQuery('example.com', qtype, { udpBytes: 1232 })));
    const authorities = [{ owner: 'example.com', type: Type.soa, ttl: 10 }];
    expect(message).toMatchObject({ rcode: 0, answers: [], authorities, ede: [17] });
  });

  it('has only an SOA record for a family without addresses (RFC 2308 §2.2)', () => {
    for (const [qtype, ipv4, ipv6] of [
      [28, IPV4, NO_ADDRESS],
      [1, NO_ADDRESS, IPV6],
    ] as const) {
      const message = decodeMessage(block(encodeQuery('example.com', qtype), ipv4, ipv6));
      expect(message).toMatchObject({ answers: [], authorities: [{ type: Type.soa, ttl: 10 }] });
    }
  });

  it('fits the longest name and the most addresses into 512 bytes, without the text', () => {
    const name = [1, 2, 3].map((n) => String(n).repeat(63)).join('.') + '.' + '4'.repeat(61);
    const addresses = new Uint8Array(16 * MAX_ADDRESSES);
    const asked = new Query();
    const packet = encodeQuery(name, 28, { udpBytes: 512 });
    parseQuery(packet, packet.length, asked);
    asked.hasAnswerCookie = true;
    const out = new Uint8Array(600);
    const texted = extendedError(Ede.filtered, 'no room for this');
    const length = writeAddressAnswer(out, packet, asked, IPV4, addresses, 10, texted);
    expect(length).toBe(512);
    const message = decodeMessage(out.subarray(0, length));
    expect(message).toMatchObject({ trailing: 0, ede: [17] });
    expect(message.answers).toHaveLength(7);
  });

  it('has the text of the error where the whole answer is not larger than the limit', () => {
    const packet = encodeQuery('example.com', 1, { udpBytes: 1232 });
    const error = extendedError(Ede.filtered, 'category Glücksspiel');
    const written = (limit: number) =>
      answer(packet, (...to) => writeAddressAnswer(...to, IPV4, IPV6, 10, error, limit));
    const whole = written(1232);
    const [{ data }] = decodeOptions(decodeMessage(whole).opt!.rdata);
    expect(data).toEqual(Buffer.from('\0\u0011category Glücksspiel'));
    expect(written(whole.length)).toEqual(whole);
    expect(written(whole.length - 1)).toEqual(block(packet));
  });

  it('answers DO with DO (RFC 3225 §3)', () => {
    const bytes = block(encodeQuery('example.com', 1, { udpBytes: 1232, ednsTtl: 0x8000 }));
    expect(decodeMessage(bytes).opt?.ttl).toBe(0x8000);
  });
});

describe('writeEmptyAnswer', () => {
  it('has no question when there is no usable one', () => {
    const packet = encodeMessage({ id: 7, flags: 0x0100 });
    const bytes = answer(packet, (...to) =>
      writeEmptyAnswer(...to, Rcode.formErr, NO_EXTENDED_ERROR),
    );
    expect(hexOf(bytes)).toBe('000781810000000000000000');
  });

  it('contains the cookies of the answer, with and without an Extended DNS Error', () => {
    const packet = encodeQuery('example.com', 1, { udpBytes: 1232 });
    const cookie = Uint8Array.from({ length: 24 }, (_, i) => i);
    for (const error of [NO_EXTENDED_ERROR, extendedError(Ede.other)]) {
      const bytes = answer(packet, (out, from, asked) => {
        asked.hasAnswerCookie = true;
        asked.cookie.set(cookie);
        return writeEmptyAnswer(out, from, asked, Rcode.badCookie, error);
      });
      const { rcode, opt, trailing } = decodeMessage(bytes);
      expect({ rcode, trailing }).toEqual({ rcode: 23, trailing: 0 });
      expect(decodeOptions(opt!.rdata)).toContainEqual({ code: 10, data: Buffer.from(cookie) });
    }
  });

  it('has room for the longest text of an error after the longest name, within 512 bytes', () => {
    const name = [63, 63, 63, 61].map((length) => 'x'.repeat(length)).join('.');
    const packet = encodeQuery(name, 1, { udpBytes: 512 });
    const text = 't'.repeat(MAX_EDE_TEXT_BYTES);
    const error = extendedError(Ede.other, text);
    const bytes = answer(packet, (out, from, asked) => {
      asked.hasAnswerCookie = true;
      asked.keepaliveUnits = 100;
      return writeEmptyAnswer(out, from, asked, Rcode.servFail, error);
    });
    expect(bytes.length).toBeLessThanOrEqual(512);
    const { opt, trailing } = decodeMessage(bytes);
    expect(trailing).toBe(0);
    expect(decodeOptions(opt!.rdata)[0]).toEqual({
      code: 15,
      data: Buffer.from(`\0\0${text}`),
    });
  });

  it('pads to a multiple of 468 bytes with zeros (RFC 8467 §4.1), where there is room', () => {
    const packet = encodeQuery('example.com', 1, { udpBytes: 1232 });
    parseQuery(packet, packet.length, query);
    query.isAnswerPadded = true;
    query.hasAnswerCookie = true;
    out.fill(0xee);
    expect(writeEmptyAnswer(out, packet, query, Rcode.noError, extendedError(Ede.other))).toBe(468);
    const { opt, trailing, ede } = decodeMessage(out.subarray(0, 468));
    expect({ trailing, ede }).toEqual({ trailing: 0, ede: [0] });
    const options = decodeOptions(opt!.rdata);
    expect(options.map(({ code }) => code)).toEqual([15, 10, 12]);
    expect(options[2].data.every((byte) => byte === 0)).toBe(true);
    const small = new Uint8Array(467);
    const length = writeEmptyAnswer(small, packet, query, Rcode.noError, extendedError(Ede.other));
    expect(length).toBe(468 - options[2].data.length - 4);
    expect(decodeMessage(small.subarray(0, length)).trailing).toBe(0);
  });

  it('copies an opcode that is not implemented', () => {
    const packet = encodeQuery('example.com', 6, { flags: 0x2800 });
    const bytes = answer(packet, (...to) =>
      writeEmptyAnswer(...to, Rcode.notImp, NO_EXTENDED_ERROR),
    );
    expect(hexOf(bytes)).toBe('1234a8840000000000000000');
  });

  it('splits BADVERS over header and OPT (RFC 6891 §6.1.3)', () => {
    const packet = encodeQuery('example.com', 1, { udpBytes: 1232, ednsTtl: 0x0001_0000 });
    const bytes = answer(packet, (...to) =>
      writeEmptyAnswer(...to, Rcode.badVers, NO_EXTENDED_ERROR),
    );
    expect(bytes[3] & 15).toBe(0);
    expect(decodeMessage(bytes)).toMatchObject({ rcode: 16, opt: { ttl: 0x0100_0000 } });
  });

  it('contains an Extended DNS Error only for a query with EDNS (RFC 8914 §2)', () => {
    const write = (udpBytes?: number) =>
      decodeMessage(
        answer(encodeQuery('example.com', 1, { ...(udpBytes && { udpBytes }) }), (...to) =>
          writeEmptyAnswer(...to, Rcode.servFail, extendedError(Ede.notReady)),
        ),
      );
    expect(write(1232)).toMatchObject({ rcode: 2, ede: [14] });
    expect(decodeOptions(write(1232).opt!.rdata)).toHaveLength(1);
    expect(write()).toMatchObject({ rcode: 2, additionals: [] });
  });
});

describe('writeAnyAnswer', () => {
  it('has one HINFO record (RFC 8482 §4.2)', () => {
    const bytes = answer(encodeQuery('example.com', 255, { udpBytes: 1232 }), (...to) =>
      writeAnyAnswer(...to, 3600),
    );
    const { answers, opt } = decodeMessage(bytes);
    expect(answers).toMatchObject([{ owner: 'example.com', type: 13, class: 1, ttl: 3600 }]);
    expect(answers[0].rdata.toString('latin1')).toBe('\x07RFC8482\0');
    expect(opt).toBeDefined();
  });
});

describe('writeTruncatedAnswer', () => {
  it('sets TC and keeps question and OPT', () => {
    const bytes = answer(encodeQuery('example.com', 16, { udpBytes: 1232 }), (...to) =>
      writeTruncatedAnswer(...to, Rcode.nxDomain),
    );
    const message = decodeMessage(bytes);
    expect(message.flags).toBe(0x8383);
    expect(message).toMatchObject({ questions: [{ qname: 'example.com' }], answers: [], ede: [] });
    expect(message.opt).toBeDefined();
  });
});

describe('writeNegativeAnswer', () => {
  it('has the SOA record of the zone, byte for byte (RFC 6303 §3)', () => {
    const asked = encodeQuery('1.10.in-addr.arpa', 12, { udpBytes: 1232 });
    const bytes = answer(asked, (...to) => writeNegativeAnswer(...to, Rcode.nxDomain, 14, 900));
    expect(hexOf(bytes)).toBe(
      [
        '1234 8183 0001 0000 0001 0001',
        '01310231300769 6e2d61646472046172706100 000c 0001',
        'c00e 0006 0001 00000384 0026 c00e 066e6f626f647907696e76616c696400',
        '00000001 00000e10 000004b0 00093a80 00000384',
        '00 0029 04d0 00 00 0000 0000',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });
});

describe('writeZoneAnswer', () => {
  const zone = (qtype: number) =>
    decodeMessage(answer(encodeQuery('home.arpa', qtype), (...to) => writeZoneAnswer(...to, 900)));

  it('has SOA and NS records, and NODATA for other types', () => {
    expect(zone(6)).toMatchObject({ answers: [{ owner: 'home.arpa', type: 6 }], authorities: [] });
    expect(zone(2)).toMatchObject({ answers: [{ type: 2, ttl: 900 }], authorities: [] });
    expect(hexOf(zone(2).answers[0].rdata)).toBe('c00c');
    expect(zone(1)).toMatchObject({ rcode: 0, answers: [], authorities: [{ type: 6 }] });
  });
});
