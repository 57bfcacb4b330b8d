import fc from 'fast-check';

/** A few of many possible items, each key once. */
const some = <T>(items: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T[]> =>
  fc
    .tuple(...items.map((item) => fc.option(item, { nil: null })))
    .map((all) => all.filter((one) => one !== null));
const each = <T>(count: number, make: (i: number) => fc.Arbitrary<T>) =>
  some(Array.from({ length: count }, (_, i) => make(i)));

/** Bodies of POST /init/: few keys with few values, so that two of them have much in common. */
export const bodies = fc
  .tuple(
    each(2, (id) => fc.record({ id: fc.constant(id), type: fc.nat({ max: 1 }) })),
    fc.integer({ min: 1, max: 4 }),
  )
  .chain(([blockpages, profiles]) => {
    const profileId = fc.nat({ max: profiles - 1 });
    const page = fc.constantFrom(null, ...blockpages.map(({ id }) => id));
    const apps = each(3, (app) =>
      fc.constantFrom('allow', 'deny').map((status) => ({ app_id: app, status })),
    );
    const network = (ips: readonly string[], prefixLength: fc.Arbitrary<number>) =>
      some(
        ips.map((ip) =>
          fc.record({ ip: fc.constant(ip), prefix_len: prefixLength, profile_id: profileId }),
        ),
      );
    return fc.record({
      blockpages: fc.constant(blockpages),
      profiles: fc.tuple(
        ...Array.from({ length: profiles }, (_, id) =>
          fc.record({
            profile: fc.record({
              id: fc.constant(id),
              page_id: page,
              white_list_only: fc.boolean(),
            }),
            cat_ids: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }),
            apps,
          }),
        ),
      ),
      bw_lists: each(6, (i) =>
        fc.record({
          profile_id: fc.constant(i % profiles),
          type: fc.constantFrom('allow', 'deny'),
          // The second repeats the first.
          domains: fc.constantFrom(
            [`host-${i}.example.com`],
            [`host-${i}.example.com`, `HOST-${i}.example.com.`],
          ),
        }),
      ),
      napts: each(4, (i) =>
        fc.record({
          ip: fc.constant(i < 2 ? '192.0.2.1' : '255.255.255.255'),
          lower_port_bound: fc.constant(i * 10),
          upper_port_bound: fc.constant(i * 10 + 9),
          profile_id: profileId,
        }),
      ),
      nets: network(['10.0.0.1', '203.0.113.9'], fc.constantFrom(24, 32)),
      nets6: network(['2001:db8::1', 'fdff:ffff:ffff:ffff::ffff'], fc.constantFrom(64, 128)),
    });
  });
