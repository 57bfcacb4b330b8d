import { hashDomain, parseHashKey } from '@weir/dns-name';
import { Query } from '@weir/dns-wire';
import { wireName } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { FailingZones } from './failing-zones.js';

const key = parseHashKey('000102030405060708090a0b0c0d0e0f');
const NONE = { silent: 0, servfail: 0, refused: 0, other: 0 };

function zones(showNames: boolean) {
  let nowSeconds = 7;
  const subject = new FailingZones({ key, showNames, nowSeconds: () => nowSeconds });
  const fail = (name: string, rcode: number | null, times = 1): void => {
    const bytes = Uint8Array.of(...new Uint8Array(12), ...wireName(name), 0, 1, 0, 1);
    const question = { bytes, query: new Query(), nameHashLow: 0, nameHashHigh: 0 };
    for (let i = 0; i < times; i++) subject.record(question, rcode);
  };
  const skip = (seconds: number): void => {
    nowSeconds += seconds;
  };
  return { subject, fail, skip };
}

describe('FailingZones', () => {
  it('lists where most questions fail, and how', () => {
    const { subject, fail } = zones(true);
    for (let i = 0; i < 1_000; i++) fail(`n${i}.Dead.example`, null);
    for (let i = 0; i < 500; i++) fail(`n${i}.dead.co.uk`, 2);
    fail('broken.example', 5, 7);
    fail('broken.example', 4, 2);
    expect(subject.list()).toEqual([
      {
        ...NONE,
        domain_hash: hashDomain('dead.example', key),
        domain: 'dead.example',
        silent: 1_000,
      },
      { ...NONE, domain_hash: hashDomain('co.uk', key), domain: 'co.uk', servfail: 500 },
      { ...NONE, domain_hash: hashDomain('dead.co.uk', key), domain: 'dead.co.uk', servfail: 500 },
      {
        ...NONE,
        domain_hash: hashDomain('broken.example', key),
        domain: 'broken.example',
        refused: 7,
        other: 2,
      },
    ]);
  });

  it('keeps no names where they may not be shown', () => {
    const { subject, fail } = zones(false);
    fail('www.dead.example', null);
    expect(subject.list()).toEqual([
      { ...NONE, domain_hash: hashDomain('dead.example', key), silent: 1 },
    ]);
  });

  it('finds the zone among thousands of others that fail once, in a short list', () => {
    const { subject, fail } = zones(true);
    for (let i = 0; i < 5_000; i++) {
      fail(`www.once${i}.example`, 2);
      if (i % 20 === 0) fail(`n${i}.dead.example`, null);
    }
    const list = subject.list();
    expect(list.length).toBeLessThanOrEqual(50);
    expect(list[0]).toMatchObject({ domain: 'dead.example', silent: 250 });
  });

  it('forgets what does not fail any more', () => {
    const { subject, fail, skip } = zones(true);
    fail('www.dead.example', null, 8);
    skip(300);
    expect(subject.list()).toMatchObject([{ silent: 4 }]);
    skip(1_000_000_000);
    expect(subject.list()).toEqual([]);
    fail('www.dead.example', null, 8);
    expect(subject.list()).toMatchObject([{ silent: 8 }]);
  });

  it('counts no names of one label', () => {
    const { subject, fail } = zones(true);
    fail('example', null);
    expect(subject.list()).toEqual([]);
  });
});
