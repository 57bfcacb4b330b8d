import type { Definition, GroupDefinition, SourceDefinition } from '@weir/catalogue';
import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import type { ClientBase, Pool } from 'pg';

/** A list that a group names. */
export type NamedSource = Pick<SourceDefinition, 'name' | 'format' | 'licence' | 'commercialUse'>;

/** A category or an application, as the definition describes it. */
export interface NamedGroup extends Pick<
  GroupDefinition,
  'id' | 'name' | 'group' | 'purpose' | 'secret' | 'isSample'
> {
  readonly sources: readonly NamedSource[];
  readonly inline: readonly InlineName[];
}

/**
 * A domain that stands in the definition itself: low and high 32 bits of its hash, its line in its file, and the time
 * at which the definition was first read with it there, in seconds since 1970.
 */
export type InlineName = readonly [low: number, high: number, line: number, since: number];

/** The definition that was read last, on whichever replica. */
export type DefinitionGroups = Readonly<
  Record<'categories' | 'applications', readonly NamedGroup[]>
>;

export async function recordDefinition(
  pool: Pool,
  { categories, applications }: Definition,
  key: HashKey,
): Promise<void> {
  const before = await readDefinitionGroups(pool);
  const groups: DefinitionGroups = {
    categories: toNamed(categories, before.categories, key),
    applications: toNamed(applications, before.applications, key),
  };
  await pool.query(
    `INSERT INTO catalogue_definition AS known (groups) VALUES ($1)
     ON CONFLICT (id) DO UPDATE SET groups = excluded.groups WHERE known.groups <> excluded.groups`,
    [JSON.stringify(groups)],
  );
}

/** Empty before the first definition was read. */
export async function readDefinitionGroups(pool: Pool | ClientBase): Promise<DefinitionGroups> {
  const { rows } = await pool.query<{ groups: DefinitionGroups }>(
    'SELECT groups FROM catalogue_definition',
  );
  return rows[0]?.groups ?? { categories: [], applications: [] };
}

/** The categories that have only sample names, by id. */
export async function readSamples(
  pool: Pool,
): Promise<Pick<NamedGroup, 'id' | 'name' | 'secret'>[]> {
  const { rows } = await pool.query<Pick<NamedGroup, 'id' | 'name' | 'secret'>>(
    `SELECT (category -> 'id')::integer AS id, category ->> 'name' AS name,
       (category -> 'secret')::boolean AS secret FROM catalogue_definition,
       jsonb_path_query(groups, '$.categories[*] ? (@.isSample == true)') AS category ORDER BY id`,
  );
  return rows;
}

function toNamed(
  groups: readonly GroupDefinition[],
  before: readonly NamedGroup[],
  key: HashKey,
): NamedGroup[] {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const hashes = new SuffixHashes(key);
  return groups.map(({ id, name, group, purpose, secret, isSample, sources, ...own }) => {
    const { domains, domainPlaces } = own;
    const known = new Map<string, number>();
    for (const [low, high, , since] of before.find((one) => one.id === id)?.inline ?? []) {
      known.set(`${low} ${high}`, since);
    }
    return {
      ...{ id, name, group, purpose, secret, isSample },
      sources: sources.map(({ name: source, format, licence, commercialUse }) => ({
        ...{ name: source, format, licence, commercialUse },
      })),
      inline: domains.map((domain, i): InlineName => {
        const last = hashes.compute(toWireName(domain), 0) - 1;
        const [low, high] = [hashes.low[last], hashes.high[last]];
        return [low, high, domainPlaces[i].line, known.get(`${low} ${high}`) ?? nowSeconds];
      }),
    };
  });
}
