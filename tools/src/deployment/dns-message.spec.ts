import { describe, expect, it } from 'vitest';
import { answerQuery, encodeQuery, readAnswer } from './dns-message.js';

const query = encodeQuery(0x1234, 'a.example');

describe('encodeQuery', () => {
  it('encodes a query for the A records of a name (RFC 1035 §4.1)', () => {
    expect(query.toString('hex')).toBe(
      '1234' + '0100' + '0001000000000000' + '0161' + '076578616d706c65' + '00' + '00010001',
    );
  });
});

describe('readAnswer', () => {
  it('reads the address that answerQuery gives', () => {
    expect(readAnswer(answerQuery(query, [203, 0, 113, 80], 60))).toBe('203.0.113.80');
  });

  it('distinguishes an empty answer from a failure', () => {
    const other = Buffer.from(query);
    other.writeUInt16BE(28, query.length - 4);
    const empty = answerQuery(other, [203, 0, 113, 80], 60);
    expect(readAnswer(empty)).toBe('empty');
    empty.writeUInt16BE(0x8182, 2);
    expect(readAnswer(empty)).toBe('rcode 2');
  });
});
