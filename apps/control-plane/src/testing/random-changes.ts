import fc from 'fast-check';
import type { WithRevision } from '../revisions/with-revision.js';
import { APPLICATIONS, type ChangeControllers, STORED_PROFILES } from './change-controllers.js';

/** A call that changes the configuration. */
export type ChangeRequest = (services: ChangeControllers) => Promise<WithRevision<unknown>>;

/** Those that are there from the start, two that requests may create, and one that is never there. */
const profileId = fc.integer({ min: 1, max: STORED_PROFILES + 3 });
const newProfileId = fc.integer({ min: STORED_PROFILES, max: STORED_PROFILES + 2 });
const few = fc.nat({ max: 4 });
const pageId = fc.nat({ max: 2 });
const status = fc.constantFrom('allow' as const, 'deny' as const);
const domain = few.map(String);
/** Also one that the catalogue does not have. */
const applicationId = fc.integer({ min: 1, max: APPLICATIONS + 1 });
const flag = fc.boolean();

const request = <T>(
  value: fc.Arbitrary<T>,
  send: (value: T) => ChangeRequest,
): fc.Arbitrary<ChangeRequest> => value.map(send);

/** Adding, changing and deleting networks, with few addresses and prefixes, so that they often clash. */
function networks<Path>(
  of: (services: ChangeControllers) => {
    create: (body: never) => Promise<WithRevision<unknown>>;
    update: (path: Path, patch: object) => Promise<WithRevision<unknown>>;
    remove: (path: Path) => Promise<WithRevision<unknown>>;
  },
  path: fc.Arbitrary<Path>,
  ip: fc.Arbitrary<string>,
  prefix_len: fc.Arbitrary<number>,
): fc.Arbitrary<ChangeRequest> {
  const network = { ip, prefix_len, profile_id: profileId };
  return fc.oneof(
    request(fc.record(network), (body) => (s) => of(s).create(body as never)),
    request(
      fc.tuple(path, fc.record(network, { requiredKeys: [] })),
      ([key, patch]) =>
        (s) =>
          of(s).update(key, patch),
    ),
    request(path, (key) => (s) => of(s).remove(key)),
  );
}

const ipv4 = networks(
  (s) => s.ipv4,
  few.map((n) => ({ int_ip: 0x0a00_0000 + n })),
  few.map((n) => `10.0.0.${n}`),
  fc.integer({ min: 29, max: 32 }),
);
const ipv6Address = few.map((n) => `2001:db8::${n}`);
const ipv6 = networks(
  (s) => s.ipv6,
  ipv6Address.map((ipv6) => ({ ipv6 })),
  ipv6Address,
  fc.integer({ min: 126, max: 128 }),
);

/** So few ranges that they often clash, and are often there to be changed and deleted. */
const naptPort = fc.nat({ max: 2 });
const naptIp = fc.nat({ max: 1 });
const naptKey = fc
  .record({ int_ip: naptIp, lower: naptPort, width: fc.nat({ max: 1 }) })
  .map(({ int_ip, lower, width }) => ({
    ...{ int_ip, ip: `0.0.0.${int_ip}` },
    ...{ lower_port_bound: lower, upper_port_bound: lower + width },
  }));
const napt = fc.tuple(naptKey, profileId).map(([key, id]) => ({ ...key, profile_id: id }));
const naptPatch = fc.record(
  {
    ip: naptIp.map((n) => `0.0.0.${n}`),
    lower_port_bound: naptPort,
    upper_port_bound: naptPort,
    profile_id: profileId,
  },
  { requiredKeys: [] },
);
const napts = fc.oneof(
  request(napt, (one) => (s) => s.napts.create(one)),
  request(fc.array(napt, { minLength: 1, maxLength: 3 }), (all) => (s) => s.napts.createAll(all)),
  request(
    fc.tuple(naptKey, naptPatch),
    ([key, patch]) =>
      (s) =>
        s.napts.update(key, patch),
  ),
  request(
    fc.array(naptKey, { minLength: 1, maxLength: 2 }),
    (keys) => (s) => s.napts.removeAll(keys),
  ),
);

const domainPath = fc.record({ profile_id: profileId, domain });
const domainRules = fc.oneof(
  request(
    fc.tuple(profileId, fc.array(domain, { minLength: 1, maxLength: 3 }), status),
    ([profile_id, domains, type]) =>
      (s) =>
        s.rules.addAll({ profile_id }, { domains, type }),
  ),
  request(
    fc.tuple(domainPath, status),
    ([path, type]) =>
      (s) =>
        s.rules.update(path, { type }),
  ),
  request(domainPath, (path) => (s) => s.rules.remove(path)),
);

const type = fc.nat({ max: 1 });
const pages = fc.oneof(
  request(fc.record({ id: pageId, type }), (page) => (s) => s.pages.create(page)),
  request(
    fc.record({ page_id: pageId, type }),
    ({ page_id, ...body }) =>
      (s) =>
        s.pages.update({ page_id }, body),
  ),
  request(pageId, (page_id) => (s) => s.pages.remove({ page_id })),
);

const settings = {
  page_id: fc.option(pageId),
  white_list_only: flag,
  empty_dns_answer: flag,
  appaware_priority_over_bwlists: flag,
};
const collections = {
  cat_ids: fc.array(few, { maxLength: 3 }),
  apps: fc.array(fc.record({ app_id: applicationId, status }), { maxLength: 3 }),
};
/** Each field may be left out. */
const profilePatch = fc.record(
  { profile: fc.record(settings, { requiredKeys: [] }), ...collections },
  { requiredKeys: [] },
);
const profiles = fc.oneof(
  request(
    fc.record({ profile: fc.record({ id: newProfileId, ...settings }), ...collections }),
    (body) => (s) => s.profiles.create(body),
  ),
  request(
    fc.tuple(profileId, profilePatch),
    ([profile_id, patch]) =>
      (s) =>
        s.profiles.update({ profile_id }, patch),
  ),
);
const applications = fc.oneof(
  request(
    fc.tuple(profileId, fc.array(applicationId, { minLength: 1, maxLength: 3 }), status),
    ([profile_id, app_ids, one]) =>
      (s) =>
        s.applications.addAll({ profile_id }, { app_ids, status: one }),
  ),
  request(
    fc.record({ profile_id: profileId, app_aware_id: applicationId }),
    (path) => (s) => s.applications.remove(path),
  ),
);

const period = fc.record({
  start: fc.constant({ day: 'friday' as const, time: '18:00' }),
  end: fc.record({ day: fc.integer({ min: 5, max: 6 }), time: fc.constant('06:00') }),
});
const schedule = { target_profile_id: profileId, periods: fc.array(period, { maxLength: 2 }) };
const schedules = fc.oneof(
  request(
    fc.tuple(profileId, fc.record(schedule)),
    ([profile_id, body]) =>
      (s) =>
        s.schedules.create({ profile_id }, body),
  ),
  request(
    fc.tuple(profileId, fc.record(schedule, { requiredKeys: [] })),
    ([profile_id, patch]) =>
      (s) =>
        s.schedules.update({ profile_id }, patch),
  ),
  request(profileId, (profile_id) => (s) => s.schedules.remove({ profile_id })),
);

const text = fc.constantFrom('a', 'b');
const until = fc.constantFrom('2096-10-02T07:06:40Z', '2096-10-02T07:06:41Z');
const order = { domain, authority: text, reference: text, until: fc.option(until) };
const orders = fc.oneof(
  request(fc.record({ id: few, ...order }), (one) => (s) => s.orders.create(one)),
  request(
    fc.tuple(few, fc.record(order, { requiredKeys: [] })),
    ([id, patch]) =>
      async (s) =>
        // When it was acknowledged differs from run to run.
        (await s.orders.update({ id }, patch)).map(({ in_force, ...one }) => ({
          ...one,
          revision: in_force?.revision,
        })),
  ),
  request(few, (id) => (s) => s.orders.remove({ id })),
);

const grants = fc.oneof(
  request(
    fc.tuple(profileId, fc.record({ domain, verdict: status, until })),
    ([profile_id, body]) =>
      (s) =>
        s.grants.create({ profile_id }, body),
  ),
  request(fc.record({ profile_id: profileId, id: few }), (path) => (s) => s.grants.remove(path)),
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
