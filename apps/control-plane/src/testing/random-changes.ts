import fc from 'fast-check';
import type { WithRevision } from '../revisions/with-revision.js';
import { APPLICATIONS, type ChangeServices, STORED_PROFILES } from './change-services.js';

/** A call of a service that changes the configuration. */
export type ChangeRequest = (services: ChangeServices) => Promise<WithRevision<unknown>>;

/** Those that are there from the start, two that requests may create, and one that is never there. */
const profileId = fc.integer({ min: 1, max: STORED_PROFILES + 3 });
const newProfileId = fc.integer({ min: STORED_PROFILES, max: STORED_PROFILES + 2 });
const few = fc.nat({ max: 4 });
const pageId = fc.nat({ max: 2 });
const verdict = fc.constantFrom(1 as const, 2 as const);
/** Also one that the catalogue does not have. */
const applicationId = fc.integer({ min: 1, max: APPLICATIONS + 1 });
const flag = fc.boolean();

const optional = <T>(name: string, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((one) => (one === undefined ? {} : { [name]: one }));
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object);
const request = <T>(
  value: fc.Arbitrary<T>,
  send: (value: T) => ChangeRequest,
): fc.Arbitrary<ChangeRequest> => value.map(send);

/** Adding, changing and deleting networks, with few addresses and prefixes, so that they often clash. */
function networks<A>(
  of: (services: ChangeServices) => {
    create: (record: never) => Promise<WithRevision<unknown>>;
    update: (address: never, patch: object) => Promise<WithRevision<unknown>>;
    remove: (address: never) => Promise<WithRevision<unknown>>;
  },
  address: fc.Arbitrary<A>,
  prefixLength: fc.Arbitrary<number>,
): fc.Arbitrary<ChangeRequest> {
  const patch = merged(
    optional('address', address),
    optional('prefixLength', prefixLength),
    optional('profileId', profileId),
  );
  return fc.oneof(
    request(
      fc.record({ address, prefixLength, profileId }),
      (record) => (s) => of(s).create(record as never),
    ),
    request(
      fc.tuple(address, patch),
      ([key, change]) =>
        (s) =>
          of(s).update(key as never, change),
    ),
    request(address, (key) => (s) => of(s).remove(key as never)),
  );
}

const ipv4 = networks(
  (s) => s.ipv4,
  few.map((n) => 0x0a00_0000 + n),
  fc.integer({ min: 29, max: 32 }),
);
const ipv6 = networks(
  (s) => s.ipv6,
  few.map((n) => [0x2001_0db8, 0, 0, n] as const),
  fc.integer({ min: 126, max: 128 }),
);

/** So few ranges that they often clash, and are often there to be changed and deleted. */
const naptPort = fc.nat({ max: 2 });
const naptKey = fc
  .record({ address: fc.nat({ max: 1 }), lowerPort: naptPort, width: fc.nat({ max: 1 }) })
  .map(({ address, lowerPort, width }) => ({ address, lowerPort, upperPort: lowerPort + width }));
const assignment = fc.tuple(naptKey, profileId).map(([key, id]) => ({ ...key, profileId: id }));
const naptPatch = merged(
  optional('address', fc.nat({ max: 1 })),
  optional('lowerPort', naptPort),
  optional('upperPort', naptPort),
  optional('profileId', profileId),
);
const napts = fc.oneof(
  request(assignment, (one) => (s) => s.napts.create(one)),
  request(
    fc.array(assignment, { minLength: 1, maxLength: 3 }),
    (all) => (s) => s.napts.createAll(all),
  ),
  request(
    fc.tuple(naptKey, naptPatch),
    ([key, patch]) =>
      (s) =>
        s.napts.update(key, patch),
  ),
  request(fc.array(naptKey, { minLength: 1, maxLength: 2 }), (keys) => (s) => s.napts.remove(keys)),
);

const domainRules = fc.oneof(
  request(
    fc.tuple(profileId, fc.array(few, { minLength: 1, maxLength: 3 }), verdict),
    ([id, hashes, one]) =>
      (s) =>
        s.rules.put(id, hashes, one),
  ),
  request(
    fc.tuple(profileId, few, verdict),
    ([id, hash, one]) =>
      (s) =>
        s.rules.update(id, hash, one),
  ),
  request(
    fc.tuple(profileId, few),
    ([id, hash]) =>
      (s) =>
        s.rules.remove(id, hash),
  ),
);

const pages = fc.oneof(
  request(
    fc.record({ id: pageId, type: fc.nat({ max: 1 }) }),
    (page) => (s) => s.pages.create(page),
  ),
  request(
    fc.record({ id: pageId, type: fc.nat({ max: 1 }) }),
    (page) => (s) => s.pages.update(page),
  ),
  request(pageId, (id) => (s) => s.pages.remove(id)),
);

const applicationRules = fc.array(fc.record({ applicationId, verdict }), { maxLength: 3 });
const settings = {
  pageId: fc.option(pageId),
  whiteListOnly: flag,
  emptyDnsAnswer: flag,
  appawarePriorityOverBwlists: flag,
  categoryIds: fc.array(few, { maxLength: 3 }),
  applicationRules,
};
/** Each field may be left out. */
const profilePatch = fc.record(
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      fc.option<unknown, undefined>(value, { nil: undefined }),
    ]),
  ),
);
const profiles = fc.oneof(
  request(fc.record({ id: newProfileId, ...settings }), (draft) => (s) => s.profiles.create(draft)),
  request(
    fc.tuple(profileId, profilePatch),
    ([id, patch]) =>
      (s) =>
        s.profiles.update(id, patch as never),
  ),
);
const applications = fc.oneof(
  request(
    fc.tuple(profileId, fc.array(applicationId, { minLength: 1, maxLength: 3 }), verdict),
    ([id, ids, one]) =>
      (s) =>
        s.applications.put(id, ids, one, (i) => ['body', String(i)]),
  ),
  request(
    fc.tuple(profileId, applicationId),
    ([id, application]) =>
      (s) =>
        s.applications.remove(id, application),
  ),
);

const period = fc.record({
  start: fc.constant({ day: 'friday' as const, time: '18:00' }),
  end: fc.record({ day: fc.integer({ min: 5, max: 6 }), time: fc.constant('06:00') }),
});
const periods = fc.array(period, { maxLength: 2 });
const schedules = fc.oneof(
  request(
    fc.record({ profileId, targetProfileId: profileId, periods }),
    (record) => (s) => s.schedules.create(record),
  ),
  request(
    fc.tuple(
      profileId,
      merged(optional('targetProfileId', profileId), optional('periods', periods)),
    ),
    ([id, patch]) =>
      (s) =>
        s.schedules.update(id, patch),
  ),
  request(profileId, (id) => (s) => s.schedules.remove(id)),
);

const text = fc.constantFrom('a', 'b');
const until = fc.constantFrom(4_000_000_000, 4_000_000_001);
const order = { domainHash: few, authority: text, reference: text, until: fc.option(until) };
const orders = fc.oneof(
  request(fc.record({ id: few, ...order }), (one) => (s) => withoutTime(s.orders.create(one))),
  request(
    fc.tuple(few, fc.record(order, { requiredKeys: [] })),
    ([id, patch]) =>
      (s) =>
        withoutTime(s.orders.update(id, patch)),
  ),
  request(few, (id) => (s) => s.orders.remove(id)),
);

/** Of an acknowledgement. */
async function withoutTime(made: ReturnType<ChangeServices['orders']['create']>) {
  return (await made).map(({ inForce, ...one }) => ({ ...one, inForce: inForce?.revision }));
}

const grants = fc.oneof(
  request(
    fc.record({ profileId, domainHash: few, verdict, until }),
    (grant) => (s) => s.grants.put(grant),
  ),
  request(fc.record({ profileId, domainHash: few }), (key) => (s) => s.grants.remove(key)),
);

/** Any change, with so few different keys that changes often meet. */
export const changeRequests: fc.Arbitrary<ChangeRequest> = fc.oneof(
  { weight: 4, arbitrary: ipv4 },
  { weight: 3, arbitrary: ipv6 },
  { weight: 4, arbitrary: napts },
  { weight: 4, arbitrary: domainRules },
  { weight: 4, arbitrary: pages },
  { weight: 4, arbitrary: profiles },
  { weight: 3, arbitrary: applications },
  { weight: 4, arbitrary: schedules },
  { weight: 3, arbitrary: orders },
  { weight: 3, arbitrary: grants },
);
