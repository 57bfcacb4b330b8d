import { parseHashKey } from '@weir/dns-name';
import { Query } from '@weir/dns-wire';
import { wireName } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question } from '../query/question.js';
import { ZoneShares } from './zone-shares.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

function question(name: string): Question {
  const bytes = Uint8Array.of(...new Uint8Array(12), ...wireName(name), 0, 1, 0, 1);
  return { bytes, query: new Query(), nameHashLow: 0, nameHashHigh: 0 };
}

function zones(maxQuestions: number) {
  const subject = new ZoneShares({ maxQuestions, key: KEY });
  let asked = 0;
  return {
    take: (name: string, nowSeconds: number) => subject.take(question(name), nowSeconds),
    recordAnswer: (name: string) => {
      subject.recordAnswer(question(name));
    },
    release: (name: string) => {
      subject.release(question(name));
    },
    /** Asks that many names below a zone. @returns how many were taken */
    flood: (zone: string, count: number, nowSeconds: number) => {
      let taken = 0;
      for (let i = 0; i < count; i++)
        if (subject.take(question(`n${asked++}.${zone}`), nowSeconds)) taken++;
      return taken;
    },
  };
}

describe('ZoneShares', () => {
  it('takes no more than a share of the questions below a zone that answers nothing', () => {
    const { flood, take } = zones(1024);
    expect(flood('dead.example', 2_000, 1)).toBe(1024);
    expect(take('n.DEAD.Example', 1)).toBe(false);
    expect(take('n.n.n.dead.example', 1)).toBe(false);
    expect(take('www.other.example', 1)).toBe(true);
    // The zone itself is always asked.
    expect(take('dead.example', 1)).toBe(true);
  });

  it('lets some questions through every second, and eight more for each answer', () => {
    const { flood, recordAnswer } = zones(1024);
    flood('dead.example', 2_000, 1);
    for (let second = 2; second < 10; second++) {
      expect(flood('dead.example', 100, second)).toBe(16);
    }
    recordAnswer('www.dead.example');
    expect(flood('dead.example', 2_000, 9)).toBe(8);
  });

  it('never refuses a question of a zone in which one of eight is answered', () => {
    const { take, recordAnswer } = zones(1024);
    let refused = 0;
    for (let i = 0; i < 10_000; i++) {
      if (!take(`n${i}.example.co.uk`, 1)) refused++;
      if (i % 8 === 0) recordAnswer(`www${i}.example.co.uk`);
    }
    expect(refused).toBe(0);
  });

  it('still limits a zone in which one of five hundred is answered', () => {
    const { take, recordAnswer } = zones(1024);
    let taken = 0;
    for (let i = 0; i < 10_000; i++) {
      if (take(`n${i}.dead.example`, 1)) taken++;
      if (i % 500 === 0) recordAnswer(`www${i}.dead.example`);
    }
    expect(taken).toBeLessThan(1024 + 20 * 8 + 1);
  });

  it('is not limited any more when all is answered again', () => {
    const { flood, take, recordAnswer } = zones(1024);
    flood('dead.example', 2_000, 1);
    let second = 2;
    let refused = 0;
    for (; second < 12; second++) {
      refused = 0;
      for (let i = 0; i < 200; i++) {
        if (take(`n${second}-${i}.dead.example`, second))
          recordAnswer(`n${second}-${i}.dead.example`);
        else refused++;
      }
    }
    expect(refused).toBe(0);
  });

  it('refuses no other question below a parent in which others are answered', () => {
    const { flood, take, recordAnswer } = zones(1024);
    for (let second = 1; second < 20; second++) {
      for (let i = 0; i < 5; i++) {
        const taken = flood(`dead${i}.co.uk`, 1_000, second);
        for (let n = 0; n < taken; n += 8) recordAnswer('www.example.co.uk');
      }
      expect(take(`www${second}.alive.co.uk`, second)).toBe(true);
    }
  });

  it('takes the share of a child from the child before its parent has none left', () => {
    const { flood, take } = zones(1024);
    for (let second = 1; second < 50; second++) {
      flood('dead.co.uk', 1_000, second);
      expect(take(`www${second}.alive.co.uk`, second)).toBe(true);
    }
    expect(flood('2.0.192.in-addr.arpa', 1_000, 1)).toBe(686);
    expect(take('1.3.0.192.in-addr.arpa', 1)).toBe(true);
    expect(flood('8.b.d.0.1.0.0.2.ip6.arpa', 1_000, 1)).toBe(351);
    expect(take('0.9.b.d.0.1.0.0.2.ip6.arpa', 1)).toBe(true);
  });

  it('gives the share of a question back', () => {
    const { flood, take, release } = zones(4);
    for (let i = 0; i < 100; i++) {
      expect(take(`n${i}.a.example`, 1)).toBe(true);
      release(`n${i}.a.example`);
    }
    expect(flood('a.example', 10, 1)).toBe(4);
  });

  it('has no limit with a share of 0', () => {
    expect(zones(0).flood('dead.example', 10_000, 1)).toBe(10_000);
  });

  it('forgets the zones not asked for longest when there are too many', () => {
    const subject = new ZoneShares({ maxQuestions: 8, key: KEY, slots: 64 });
    const take = (name: string, nowSeconds: number) => subject.take(question(name), nowSeconds);
    for (let second = 1; second < 50; second++) {
      for (let i = 0; i < 20; i++) take(`n${second}-${i}.dead.example`, second);
      expect(take(`n${second}.dead.example`, second)).toBe(false);
      for (let i = 0; i < 4; i++) take(`www.z${second}-${i}.example`, second);
    }
  });

  it('agrees with a slow model', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const name = fc.array(label, { minLength: 1, maxLength: 12 });
    const step = fc.record({
      what: fc.constantFrom('take', 'take', 'take', 'take', 'release', 'recordAnswer'),
      name,
      waits: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.nat(12), (steps, maxQuestions) => {
        const subject = zones(maxQuestions);
        const model = new Model(maxQuestions);
        let nowSeconds = 1;
        for (const { what, name: labels, waits } of steps) {
          for (let i = 0; i < waits; i++) model.passSecond();
          nowSeconds += waits;
          const asked = labels.join('.');
          if (what !== 'take') {
            subject[what](asked);
            model[what](labels);
          } else if (maxQuestions > 0) {
            expect(subject.take(asked, nowSeconds)).toBe(model.take(labels));
          }
        }
      }),
    );
  });
});

/** Counts by suffix, second by second. */
class Model {
  private readonly counts = new Map<string, number>();

  constructor(private readonly maxQuestions: number) {}

  passSecond(): void {
    for (const [zone, count] of this.counts) {
      const leak = Math.ceil(this.shareOf(zone) / 64);
      this.counts.set(zone, Math.max(0, count - leak));
    }
  }

  take(labels: readonly string[]): boolean {
    const parents = this.zonesOf(labels).filter((zone) => zone !== labels.join('.'));
    if (parents.some((zone) => (this.counts.get(zone) ?? 0) >= this.shareOf(zone))) return false;
    for (const zone of parents) this.counts.set(zone, (this.counts.get(zone) ?? 0) + 1);
    return true;
  }

  recordAnswer(labels: readonly string[]): void {
    for (const zone of this.zonesOf(labels))
      this.counts.set(zone, Math.max(0, (this.counts.get(zone) ?? 0) - 8));
  }

  release(labels: readonly string[]): void {
    for (const zone of this.zonesOf(labels)) {
      if (zone === labels.join('.')) continue;
      this.counts.set(zone, Math.max(0, (this.counts.get(zone) ?? 0) - 1));
    }
  }

  private zonesOf(labels: readonly string[]): string[] {
    const suffixes = labels.map((_, i) => labels.slice(i));
    return suffixes.filter(({ length }) => length >= 2 && length <= 10).map((one) => one.join('.'));
  }

  private shareOf(zone: string): number {
    const labels = zone.split('.').length;
    let share = this.maxQuestions;
    for (let i = 2; i < labels; i++) share *= 7 / 8;
    return Math.max(1, Math.floor(share));
  }
}
