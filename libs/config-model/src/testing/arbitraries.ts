import fc from 'fast-check';
import {
  type Entities,
  type EntityKind,
  MAX_DOMAIN_HASH,
  MAX_ID,
  MAX_ORDER_TEXT,
  MAX_UNTIL,
  WEEK_POINTS,
} from '../entities.js';
import type { Change, Operation } from '../codec.js';

const hexDigit = fc.constantFrom(...Array.from('0123456789abcdef'));
const id = fc.integer({ min: 0, max: MAX_ID });
const word = fc.integer({ min: 0, max: 0xffff_ffff });
const verdict = fc.constantFrom(1 as const, 2 as const);
const domainHash = fc.integer({ min: 0, max: MAX_DOMAIN_HASH });
const until = fc.integer({ min: 0, max: MAX_UNTIL });
const orderText = fc.string({ unit: 'binary', minLength: 1, maxLength: MAX_ORDER_TEXT });
const point = fc.integer({ min: 0, max: WEEK_POINTS - 1 });
const ports = fc.tuple(fc.integer({ min: 0, max: 65535 }), fc.integer({ min: 0, max: 65535 }));
const ascending = (ids: number[]): number[] => ids.toSorted((a, b) => a - b);

/** Random entities of each kind, within all bounds. */
export const entityArbitraries: { readonly [K in EntityKind]: fc.Arbitrary<Entities[K]> } = {
  blockPage: fc.record({ id, type: fc.constantFrom(0, 1) }),
  profile: fc.record({
    id,
    pageId: fc.option(id),
    whiteListOnly: fc.boolean(),
    emptyDnsAnswer: fc.boolean(),
    appawarePriorityOverBwlists: fc.boolean(),
    categoryIds: fc.uniqueArray(id, { maxLength: 5 }).map(ascending),
    applicationRules: fc.array(fc.record({ applicationId: id, verdict }), { maxLength: 5 }),
  }),
  domainRule: fc.record({ profileId: id, domainHash, verdict }),
  ipv4Network: fc.record({
    address: word,
    prefixLength: fc.integer({ min: 10, max: 32 }),
    profileId: id,
  }),
  ipv6Network: fc.record({
    address: fc.tuple(word, word, word, word),
    prefixLength: fc.integer({ min: 16, max: 128 }),
    profileId: id,
  }),
  naptAssignment: fc.tuple(word, ports, id).map(([address, [a, b], profileId]) => ({
    address,
    lowerPort: Math.min(a, b),
    upperPort: Math.max(a, b),
    profileId,
  })),
  schedule: fc.record({
    profileId: id,
    targetProfileId: id,
    periods: fc.array(fc.record({ start: point, end: point }), { maxLength: 5 }),
  }),
  catalogue: fc.record({
    version: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    sha256: fc.string({
      unit: hexDigit,
      minLength: 64,
      maxLength: 64,
    }),
    sizeBytes: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  }),
  order: fc.record({
    id,
    domainHash,
    until: fc.option(until),
    authority: orderText,
    reference: orderText,
  }),
  grant: fc.record({ profileId: id, domainHash, verdict, until }),
};

/** A kind with an entity of that kind. */
export const kindAndEntity: fc.Arbitrary<{ kind: EntityKind; entity: Entities[EntityKind] }> = fc
  .constantFrom(...(Object.keys(entityArbitraries) as EntityKind[]))
  .chain((kind) =>
    (entityArbitraries[kind] as fc.Arbitrary<Entities[EntityKind]>).map((entity) => ({
      kind,
      entity,
    })),
  );

const operation = fc.oneof(
  kindAndEntity.map(({ kind, entity }) => ({ type: 'put', kind, entity }) as Operation),
  fc.constant<Operation>({ type: 'reload' }),
);

export const change: fc.Arbitrary<Change> = fc.record({
  revision: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  digest: fc.string({ unit: hexDigit, minLength: 16, maxLength: 16 }),
  operations: fc.array(operation, { maxLength: 4 }),
});
