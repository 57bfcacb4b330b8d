import { describe, expect, it } from 'vitest';
import { encodeQuery, readAnswer, UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import { HEALTHY_ZONE, ZONES } from './target.js';
import { answerFor } from './answers.js';

const ask = (qname: string) => answerFor(encodeQuery(1, qname));

describe('answerFor', () => {
  it('gives an address for names of healthy zones, at once', () => {
    const answer = ask(`f1.${HEALTHY_ZONE}`);
    if (answer.kind !== 'now') throw new Error(answer.kind);
    expect(readAnswer(answer.packet)).toBe(UPSTREAM_ADDRESS);
  });

  it('does not answer for the dead zone, whatever the case', () => {
    expect(ask(`a.${ZONES.dead}`).kind).toBe('never');
    expect(ask(`a.${ZONES.dead.toUpperCase()}`).kind).toBe('never');
    expect(ask(`a.${ZONES.slow}`).kind).toBe('late');
  });

  it('denies names of the absent zone', () => {
    const answer = ask(`a.${ZONES.absent}`);
    if (answer.kind !== 'now') throw new Error(answer.kind);
    expect(readAnswer(answer.packet)).toBe('rcode 3');
  });

  it('has huge answers over TCP only, and they fit a message', () => {
    const answer = ask(`a.${ZONES.huge}`);
    if (answer.kind !== 'tcp only') throw new Error(answer.kind);
    expect(answer.truncated.readUInt16BE(2) & 0x0200).toBe(0x0200);
    const { length } = answer.packet();
    expect(length).toBeGreaterThan(60_000);
    expect(length).toBeLessThan(65_536);
  });

  it('answers a chain with more targets than are judged', () => {
    const answer = ask(`a.${ZONES.chain}`);
    if (answer.kind !== 'now') throw new Error(answer.kind);
    expect(answer.packet.readUInt16BE(6)).toBe(41);
    expect(answer.packet.length).toBeLessThan(1_232);
  });
});
