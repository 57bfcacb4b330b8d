import { describe, expect, it } from 'vitest';
import { CLOCK_TOLERANCE_MS, DeploymentMessages } from './signed-messages.js';

const [OLD, NEW] = ['the-old-token-of-the-feed', 'the-new-token-of-the-feed'];
const CHANNEL = 'weir:0123:head';

function clock(startMs = 1_800_000_000_000) {
  const time = { nowMs: startMs, read: () => time.nowMs };
  return time;
}

function messagesOf(tokens: readonly string[], nowMs: () => number) {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return new DeploymentMessages({ id: 'weir', tokens: () => tokens }, silent, nowMs);
}

function signerOf(token: string, nowMs: () => number) {
  return messagesOf([token], nowMs);
}

describe('a signed message', () => {
  it('is accepted with its text, whatever is in it', () => {
    const { read } = clock();
    const signer = signerOf(OLD, read);
    const verifier = messagesOf([OLD], read);
    for (const text of ['', '.', '{"a":"b.c"}', 'ä\n☃', 'x'.repeat(300_000)]) {
      expect(verifier.verify(CHANNEL, signer.sign(CHANNEL, text))).toMatchObject({ text });
    }
  });

  it('is accepted under any of the keys, so that the key can be replaced', () => {
    const { read } = clock();
    const verifier = messagesOf([NEW, OLD], read);
    for (const token of [OLD, NEW]) {
      const message = signerOf(token, read).sign(CHANNEL, 'text');
      expect(verifier.verify(CHANNEL, message)).toMatchObject({ text: 'text' });
    }
    const message = signerOf(OLD, read).sign(CHANNEL, 'text');
    expect(messagesOf([NEW], read).verify(CHANNEL, message)).toBe('forged');
  });

  it('is forged when any byte of it is another, or its channel', () => {
    const { read } = clock();
    const verifier = messagesOf([OLD], read);
    const message = signerOf(OLD, read).sign(CHANNEL, 'text');
    for (let at = 0; at < message.length; at++) {
      // The last character of the signature has four bits that do not count, and the point after it is not signed.
      if (at === 42 || at === 43) continue;
      const other = message[at] === 'A' ? 'B' : 'A';
      const forged = `${message.slice(0, at)}${other}${message.slice(at + 1)}`;
      expect([at, verifier.verify(CHANNEL, forged)]).toEqual([at, 'forged']);
    }
    expect(verifier.verify('weir:0123:change', message)).toBe('forged');
    for (const text of ['', 'text', '{"revision":1}', '.'.repeat(100), message.slice(0, 60)]) {
      expect(verifier.verify(CHANNEL, text)).toBe('forged');
    }
    expect(verifier.verify(CHANNEL, message)).toMatchObject({ text: 'text' });
  });

  it('is accepted once, and not after a later one of its sender', () => {
    const { read } = clock();
    const [signer, another] = [signerOf(OLD, read), signerOf(OLD, read)];
    const verifier = messagesOf([OLD], read);
    const [first, second] = [signer.sign(CHANNEL, '1'), signer.sign(CHANNEL, '2')];
    expect(verifier.verify(CHANNEL, second)).toMatchObject({ text: '2' });
    expect(verifier.verify(CHANNEL, second)).toBe('replayed');
    expect(verifier.verify(CHANNEL, first)).toBe('replayed');
    expect(verifier.verify(CHANNEL, another.sign(CHANNEL, '3'))).toMatchObject({ text: '3' });
  });

  it('can be read later with its time, if it is not forged, which counts for nothing else', () => {
    const time = clock();
    const verifier = messagesOf([OLD], time.read);
    const message = signerOf(OLD, time.read).sign(CHANNEL, 'text');
    const sentMs = time.nowMs;
    time.nowMs += 10 * CLOCK_TOLERANCE_MS;
    expect(verifier.read(CHANNEL, message)).toMatchObject({ text: 'text', sentMs });
    expect(verifier.read('weir:0123:change', message)).toBeNull();
    time.nowMs = sentMs;
    expect(verifier.verify(CHANNEL, message)).toMatchObject({ text: 'text' });
  });

  it('is stale when clocks differ by more than the tolerance, also for a receiver that has just started', () => {
    const time = clock();
    const message = signerOf(OLD, time.read).sign(CHANNEL, 'text');
    const sentMs = time.nowMs;
    for (const [ms, accepted] of [
      [CLOCK_TOLERANCE_MS, true],
      [CLOCK_TOLERANCE_MS + 1, false],
      [-CLOCK_TOLERANCE_MS, true],
      [-CLOCK_TOLERANCE_MS - 1, false],
    ] as const) {
      const verified = messagesOf([OLD], () => sentMs + ms).verify(CHANNEL, message);
      expect([ms, verified]).toMatchObject([ms, accepted ? { text: 'text' } : 'stale']);
    }
  });

  it('is accepted after the clock of its sender was set back', () => {
    const time = clock();
    const signer = signerOf(OLD, time.read);
    const verifier = messagesOf([OLD], time.read);
    expect(verifier.verify(CHANNEL, signer.sign(CHANNEL, '1'))).toMatchObject({ text: '1' });
    time.nowMs -= 20_000;
    expect(verifier.verify(CHANNEL, signer.sign(CHANNEL, '2'))).toMatchObject({ text: '2' });
  });

  it('costs the receiver no memory for senders that are gone', () => {
    const time = clock();
    const verifier = messagesOf([OLD], time.read);
    const keptBy = verifier as unknown as { lastMs: Map<string, number> };
    for (let n = 0; n < 20_000; n++) {
      time.nowMs += 20;
      verifier.verify(CHANNEL, signerOf(OLD, time.read).sign(CHANNEL, ''));
    }
    expect(keptBy.lastMs.size).toBeLessThan(10_000);
  });
});
