import { describe, expect, it } from 'vitest';
import { encodeQuery, readAnswer, UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import { answerFor } from './answers.js';
import { HEALTHY_ZONE, SLOW_MS, ZONES } from './target.js';

const ask = (qname: string, isTcp = false) => answerFor(encodeQuery(1, qname), isTcp)!;

describe('answerFor', () => {
  it('gives an address for names of healthy zones, at once', () => {
    const { packet, afterMs } = ask(`f1.${HEALTHY_ZONE}`);
    expect([readAnswer(packet), afterMs]).toEqual([UPSTREAM_ADDRESS, 0]);
  });

  it('does not answer for the dead zone, whatever the case', () => {
    expect(ask(`a.${ZONES.dead}`)).toBeNull();
    expect(ask(`a.${ZONES.dead.toUpperCase()}`)).toBeNull();
    expect(ask(`a.${ZONES.slow}`).afterMs).toBe(SLOW_MS);
  });

  it('denies names of the absent zone', () => {
    expect(readAnswer(ask(`a.${ZONES.absent}`).packet)).toBe('rcode 3');
  });

  it('has huge answers over TCP only, and they fit a message', () => {
    expect(ask(`a.${ZONES.huge}`).packet.readUInt16BE(2) & 0x0200).toBe(0x0200);
    const { length } = ask(`a.${ZONES.huge}`, true).packet;
    expect(length).toBeGreaterThan(60_000);
    expect(length).toBeLessThan(65_536);
  });

  it('answers a chain with more targets than are judged', () => {
    const { packet } = ask(`a.${ZONES.chain}`);
    expect(packet.readUInt16BE(6)).toBe(41);
    // c39 and a pointer to the queried name without its first label.
    expect(packet.includes(Buffer.from('\x03c39\xc0\x0e', 'latin1'))).toBe(true);
    expect(packet.length).toBeLessThan(1_232);
  });
});
