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
  return new SubscriberShares(capacity, { subscriber, maxQuestions, maxWaiting });
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
            expect(account === OVER_SHARE).toBe(accounts.length >= limits[share]);
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
