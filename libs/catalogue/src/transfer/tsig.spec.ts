import { bytesOf } from '@weir/dns-wire/testing';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Tsig, TSIG_KEY } from './tsig.js';
import { readAnswer } from './zone-text.js';

const SECRET = Buffer.from('a secret of the feed');
const NAME = bytesOf('0466656564 00');
const ALGORITHM = bytesOf('0b686d61632d736861323536 00');
const KEY = `hmac-sha256:feed:${SECRET.toString('base64')}`;
const QUERY = bytesOf('1234 0000 0001 0000 0000 0000 016100 0006 0001');
const ANSWER = bytesOf('1234 8400 0000 0000 0000 0000');

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);

/** Signs as RFC 8945 §5.3 tells a server. */
class Signer {
  private readonly pending: Uint8Array[] = [];
  private isFirst = true;

  constructor(private mac: Uint8Array) {}

  unsigned(message: Uint8Array): Uint8Array {
    this.pending.push(message);
    return message;
  }

  signed(message: Uint8Array, change = (mac: Buffer) => mac, lateSeconds = 0): Uint8Array {
    const time = Buffer.alloc(8);
    time.writeUIntBE(Math.floor(Date.now() / 1000) - lateSeconds, 0, 6);
    time.writeUInt16BE(300, 6);
    const anyAndTtl = bytesOf('00ff 00000000');
    const errorAndOther = bytesOf('0000 0000');
    const variables = this.isFirst ? [NAME, anyAndTtl, ALGORITHM, time, errorAndOther] : [time];
    const parts = [uint16(this.mac.length), this.mac, ...this.pending.splice(0), message];
    const whole = Buffer.concat([...parts, ...variables]);
    const mac = createHmac('sha256', SECRET).update(whole).digest();
    this.mac = mac;
    this.isFirst = false;
    const sent = change(mac);
    const id = message.subarray(0, 2);
    const rdata = Buffer.concat([ALGORITHM, time, uint16(sent.length), sent, id, errorAndOther]);
    const fixed = [uint16(250), anyAndTtl, uint16(rdata.length)];
    const bytes = Buffer.concat([message, NAME, ...fixed, rdata]);
    bytes.writeUInt16BE(bytes.readUInt16BE(10) + 1, 10);
    return bytes;
  }
}

function exchange() {
  const tsig = new Tsig('Feed.', [`hmac-sha512:other:AAAA`, KEY]);
  const query = tsig.sign(QUERY);
  // The last fields: MAC, ORIGINAL ID, ERROR, OTHER LEN.
  const server = new Signer(query.subarray(-38, -6));
  const verify = (message: Uint8Array) => {
    tsig.verify(message, readAnswer(message, 0x1234).tsigAt);
  };
  return { tsig, server, verify };
}

describe('Tsig', () => {
  it('takes 99 messages without a signature between two that have one, and no more', () => {
    for (const [count, isTaken] of [
      [99, true],
      [100, false],
    ] as const) {
      const { tsig, server, verify } = exchange();
      verify(server.signed(ANSWER));
      const between = () => {
        for (let i = 0; i < count; i++) verify(server.unsigned(ANSWER));
      };
      if (!isTaken) {
        expect(between).toThrow('sent more than 99 messages without a signature');
        continue;
      }
      between();
      expect(() => tsig.end()).toThrow('ended without a signature');
      verify(server.signed(ANSWER));
      tsig.end();
    }
  });

  it('notices that a message without a signature was changed', () => {
    const { server, verify } = exchange();
    verify(server.signed(ANSWER));
    server.unsigned(ANSWER);
    verify(bytesOf('1234 8000 0000 0000 0000 0000'));
    expect(() => verify(server.signed(ANSWER))).toThrow('answered with a wrong signature');
  });

  it('takes no signature that is shorter, or for another query', () => {
    for (const length of [0, 16, 31]) {
      const { server, verify } = exchange();
      const short = server.signed(ANSWER, (mac) => mac.subarray(0, length));
      expect(() => verify(short)).toThrow('answered with a wrong signature');
    }
    const { verify } = exchange();
    const other = new Signer(Buffer.alloc(32)).signed(ANSWER);
    expect(() => verify(other)).toThrow('answered with a wrong signature');
  });

  it('takes no signature of another hour', () => {
    const { server, verify } = exchange();
    verify(server.signed(ANSWER, undefined, 200));
    const late = server.signed(ANSWER, undefined, 3_600);
    expect(() => verify(late)).toThrow(/^has a clock that differs by 36\d\d s from that of this/);
  });

  it.each(['hmac-md5:feed:AAAA', 'hmac-sha256:feed:AAA', 'hmac-sha256:feed:', 'feed:AAAA'])(
    'knows that %s is no key',
    (text) => {
      expect(text).not.toMatch(TSIG_KEY);
    },
  );
});
