import type { PutOperation } from '@weir/config-model';
import { parseHashKey } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CategoryInfo } from '../catalogue-index.js';
import { Decision, Reason } from '../decision.js';
import { Policy } from '../policy.js';
import { MapCatalogue } from '../testing/map-catalogue.js';
import { BlockErrors, type BlockErrorsOptions } from './block-errors.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const PROVIDER = {
  name: 'Example Net',
  contacts: ['mailto:help@example.net', 'tel:+442079460000'],
};

class Catalogue extends MapCatalogue {
  constructor(private readonly categories: Readonly<Record<number, CategoryInfo>>) {
    super(KEY, new Map());
  }

  override category(id: number): CategoryInfo {
    return this.categories[id];
  }
}

const GAMBLING = new Catalogue({
  2: { name: 'Glücksspiel', purpose: 'parental' },
  3: { name: 'Malware', purpose: 'security' },
  4: { name: 'Court list', purpose: 'legal' },
  5: { name: '', purpose: 'legal', secret: true },
  6: { name: 'Botnets', purpose: 'other' },
});

function order(reference: string): PutOperation {
  const entity = { id: 1, domainHash: 1, until: null, authority: 'Court', reference };
  return { type: 'put', kind: 'order', entity };
}

function setUp(options: Partial<BlockErrorsOptions> = {}) {
  const policy = new Policy({ timeZone: 'UTC' });
  policy.setCatalogue(GAMBLING);
  const errors = new BlockErrors({
    ...{ source: { policy }, hasText: true, provider: PROVIDER },
    ...options,
  });
  const say = (reason: Reason, matchedId = -1, isStructured = false): [number, string] => {
    const decision = Object.assign(new Decision(), { reason, matchedId, orderNumber: 0 });
    const { code, text, textBytes } = errors.of(decision, isStructured);
    return [code, new TextDecoder().decode(text.subarray(0, textBytes))];
  };
  return { policy, say };
}

describe('BlockErrors', () => {
  it('says what blocks: 15 for security, else 17', () => {
    const { say } = setUp();
    expect(say(Reason.category, 2)).toEqual([17, 'category Glücksspiel']);
    expect(say(Reason.category, 3)).toEqual([15, 'category Malware']);
    expect(say(Reason.category, 4)).toEqual([17, 'category Court list']);
    expect(say(Reason.applicationRule, 7)).toEqual([17, 'application Application 7']);
    expect(say(Reason.domainRule)).toEqual([17, 'deny list']);
    expect(say(Reason.whiteListOnly)).toEqual([17, 'allow list only']);
  });

  it('says of what is denied to everybody: 16 by law, else 15; nothing of a secret category', () => {
    const { policy, say } = setUp();
    expect(say(Reason.mandatoryCategory, 4)).toEqual([16, 'category Court list']);
    expect(say(Reason.mandatoryCategory, 3)).toEqual([15, 'category Malware']);
    expect(say(Reason.mandatoryCategory, 2)).toEqual([15, 'category Glücksspiel']);
    expect(say(Reason.category, 2)).toEqual([17, 'category Glücksspiel']);
    for (const isStructured of [false, true]) {
      expect(say(Reason.mandatoryCategory, 5, isStructured)).toEqual([16, '']);
    }
    policy.put(order('3 O 1/26'));
    expect(say(Reason.order)).toEqual([16, 'order 3 O 1/26']);
    expect(say(Reason.grant)).toEqual([17, 'grant']);
  });

  it('tells the reference of each order, whatever characters it has', () => {
    const { policy, say } = setUp();
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (reference) => {
        policy.put(order(reference));
        expect(say(Reason.order)).toEqual([16, `order ${reference}`]);
        const [code, json] = say(Reason.order, -1, true);
        const { name: o, contacts: c } = PROVIDER;
        const said: unknown = JSON.parse(json);
        expect([code, said]).toEqual([16, { c, j: `order ${reference}`, o, l: 'en' }]);
      }),
      { numRuns: 50 },
    );
  });

  it('follows the catalogue in force', () => {
    const { policy, say } = setUp();
    expect(say(Reason.category, 2)).toEqual([17, 'category Glücksspiel']);
    policy.setCatalogue(new Catalogue({ 2: { name: 'Bets', purpose: 'security' } }));
    expect(say(Reason.category, 2)).toEqual([15, 'category Bets']);
    policy.setCatalogue(null);
    expect(say(Reason.category, 2)).toEqual([17, 'category 2']);
  });

  it('is JSON for clients that ask for it, with a sub-error where one applies', () => {
    const { say } = setUp();
    const { name: o, contacts: c } = PROVIDER;
    const json = (...of: Parameters<typeof say>) => JSON.parse(say(...of)[1]) as unknown;
    expect(say(Reason.category, 2, true)[0]).toBe(17);
    expect(json(Reason.category, 2, true)).toEqual({ c, j: 'category Glücksspiel', o, l: 'en' });
    expect(json(Reason.category, 3, true)).toEqual({ c, j: 'category Malware', s: 1, o, l: 'en' });
    expect(json(Reason.domainRule, -1, true)).toEqual({ c, j: 'deny list', o, l: 'en' });
    const sub = (id: number) => json(Reason.mandatoryCategory, id, true);
    expect(sub(3)).toMatchObject({ s: 1 });
    expect(sub(6)).toMatchObject({ s: 5 });
    expect(sub(4)).toEqual({ c, j: 'category Court list', o, l: 'en' });
  });

  it('has no empty fields in JSON when nothing is known of the provider', () => {
    const { say } = setUp({ provider: { name: undefined, contacts: [] } });
    expect(say(Reason.domainRule, -1, true)).toEqual([17, '{"j":"deny list","l":"en"}']);
  });

  it('has only its code without texts', () => {
    const { say } = setUp({ hasText: false });
    expect(say(Reason.category, 3)).toEqual([15, '']);
    expect(say(Reason.category, 3, true)).toEqual([15, '']);
    expect(say(Reason.whiteListOnly)).toEqual([17, '']);
    expect(say(Reason.order)).toEqual([16, '']);
    expect(say(Reason.order, -1, true)).toEqual([16, '']);
  });

  it('encodes each cause once', () => {
    const { policy } = setUp();
    const errors = new BlockErrors({ source: { policy }, hasText: true, provider: PROVIDER });
    const decision = Object.assign(new Decision(), { reason: Reason.category, matchedId: 2 });
    const { text } = errors.of(decision, false);
    expect(errors.of(decision, false).text).toBe(text);
  });
});
