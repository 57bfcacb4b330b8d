import { ClientAddress, SubscriberKey } from '@weir/clients';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OVER_SHARE, Share, SubscriberShares } from './subscriber-shares.js';

const SHARES = [Share.questions, Share.waiting];

function client(number: number): ClientAddress {
  const address = new ClientAddress();
  address.setIpv4(0xc000_0200 + number, 5353);
  return address;
}

function shares(capacity: number, maxQuestions: number, maxWaiting: number): SubscriberShares {
  const subscriber = new SubscriberKey({ policy: null }, 7);
  return new SubscriberShares([capacity, capacity], { subscriber, maxQuestions, maxWaiting });
}

describe('SubscriberShares', () => {
  it('refuses a subscriber what is beyond its share, and nobody else', () => {
    const subject = shares(8, 2, 1);
    const account = subject.take(client(1), Share.questions);
    expect(subject.take(client(1), Share.questions)).toBe(account);
    expect(subject.take(client(1), Share.questions)).toBe(OVER_SHARE);
    expect(subject.take(client(1), Share.waiting)).toBe(account);
    expect(subject.take(client(1), Share.waiting)).toBe(OVER_SHARE);
    expect(subject.take(client(2), Share.questions)).not.toBe(OVER_SHARE);
    subject.release(account, Share.questions);
    expect(subject.take(client(1), Share.questions)).toBe(account);
  });

  it('leaves room for others, however many take all that they can', () => {
    const subject = shares(512, 256, 256);
    for (let turn = 0; turn < 256; turn++)
      for (let n = 1; n <= 8; n++) subject.take(client(n), Share.questions);
    for (let n = 9; n <= 16; n++) {
      for (let i = 0; i < 8; i++)
        expect(subject.take(client(n), Share.questions)).not.toBe(OVER_SHARE);
    }
  });

  it('gives one alone all of its share', () => {
    const subject = shares(512, 256, 256);
    let taken = 0;
    while (subject.take(client(1), Share.questions) !== OVER_SHARE) taken++;
    expect(taken).toBe(256);
  });

  it('has one for each while there is any, and gives back what was taken', () => {
    const subject = shares(8, 4, 4);
    const accounts = Array.from({ length: 8 }, (_, n) => subject.take(client(n), Share.questions));
    expect(accounts).not.toContain(OVER_SHARE);
    for (const account of accounts) subject.release(account, Share.questions);
    for (let i = 0; i < 4; i++) expect(subject.take(client(1), Share.questions)).not.toBe(-1);
  });

  it('agrees with a plain map, however subscribers come and go', () => {
    const step = fc.record({
      subscriber: fc.nat(20),
      share: fc.constantFrom(...SHARES),
      takes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const subject = shares(64, 3, 2);
        const limits = [3, 2];
        const taken = new Map<string, number[]>();
        let total = 0;
        for (const { subscriber, share, takes } of steps) {
          const key = `${subscriber} ${share}`;
          const accounts = taken.get(key) ?? [];
          taken.set(key, accounts);
          if (takes && total < 64) {
            const account = subject.take(client(subscriber), share);
            const others = [...taken].filter(([name, { length }]) => {
              return length > 0 && name.endsWith(` ${share}`) && name !== key;
            });
            const used = others.reduce((sum, [, { length }]) => sum + length, accounts.length);
            const fair = Math.max(1, Math.floor((64 - used) / (others.length + 1)));
            const limit = used > 32 ? Math.min(limits[share], fair) : limits[share];
            expect(account === OVER_SHARE).toBe(accounts.length >= limit);
            if (account === OVER_SHARE) continue;
            accounts.push(account);
            total++;
          } else if (!takes && accounts.length > 0) {
            subject.release(accounts.pop()!, share);
            total--;
          }
        }
      }),
    );
  });
});
