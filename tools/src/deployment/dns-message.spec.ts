import { describe, expect, it } from 'vitest';
import { answerQuery, encodeQuery, readAnswer, withEdns } from './dns-message.js';

const query = encodeQuery(0x1234, 'a.example');

describe('encodeQuery', () => {
  it('encodes a query for the A records of a name (RFC 1035 §4.1)', () => {
    expect(query.toString('hex')).toBe(
      '1234' + '0100' + '0001000000000000' + '0161' + '076578616d706c65' + '00' + '00010001',
    );
  });
});

describe('withEdns', () => {
  it('adds an OPT record with options (RFC 6891 §6.1.2)', () => {
    const packet = withEdns(query, 1232, Buffer.from('000a0000', 'hex'));
    expect(packet.readUInt16BE(10)).toBe(1);
    const record = packet.subarray(query.length).toString('hex');
    expect(record).toBe('00' + '0029' + '04d0' + '00000000' + '0004' + '000a0000');
  });
});

describe('readAnswer', () => {
  it('reads the address that answerQuery gives', () => {
    expect(readAnswer(answerQuery(query))).toBe('203.0.113.80');
  });

  it('distinguishes an empty answer from a failure', () => {
    const other = Buffer.from(query);
    other.writeUInt16BE(28, query.length - 4);
    const empty = answerQuery(other);
    expect(readAnswer(empty)).toBe('empty');
    empty.writeUInt16BE(0x8182, 2);
    expect(readAnswer(empty)).toBe('rcode 2');
  });
});
