import { describe, expect, it } from 'vitest';
import { addressBytes, proxyHeader } from '../../deployment/dns-message.js';
import { QueryFile, RECORD_HEADER_BYTES } from './queries.js';

const NAME = Buffer.from('\x03www\x07example\x00', 'latin1');

describe('QueryFile', () => {
  it('writes a PROXY header with the client and a query for the A record', () => {
    const file = new QueryFile();
    file.add({ words: [0xc612_0001], port: 4_711 }, NAME);
    const content = Buffer.from(file.content);
    const header = proxyHeader(addressBytes('198.18.0.1'), 4_711);
    expect(content.readUInt16LE(0)).toBe(content.length - RECORD_HEADER_BYTES);
    expect(content.readUInt16LE(2)).toBe(header.length);
    const datagram = content.subarray(RECORD_HEADER_BYTES);
    expect(datagram.subarray(0, header.length).toString('hex')).toBe(header.toString('hex'));
    expect(datagram.subarray(header.length).toString('hex')).toBe(
      `000001000001000000000000${NAME.toString('hex')}00010001`,
    );
  });

  it('has addresses of 16 bytes for IPv6', () => {
    const file = new QueryFile();
    file.add({ words: [0x2001_0db8, 0, 0, 1], port: 1 }, NAME);
    const content = Buffer.from(file.content);
    expect(content.readUInt16LE(2)).toBe(52);
    expect(content.subarray(17, 36).toString('hex')).toBe('22002420010db8000000000000000000000001');
  });

  it('grows', () => {
    const file = new QueryFile();
    for (let i = 0; i < 30_000; i++) file.add({ words: [i], port: 1 }, NAME);
    expect(file.count).toBe(30_000);
    expect(file.content).toHaveLength(30_000 * (RECORD_HEADER_BYTES + 28 + 12 + NAME.length + 4));
  });
});
