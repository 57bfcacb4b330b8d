import type { CommercialUse, Definition, ListFormat, Purpose } from '@weir/catalogue';
import type { Pool } from 'pg';

/** A list that a group names. */
export interface NamedSource {
  readonly name: string;
  readonly format: ListFormat;
  readonly licence: string | null;
  readonly commercialUse: CommercialUse | null;
}

/** A category or an application, as the definition describes it. */
export interface NamedGroup {
  readonly id: number;
  readonly group: string | null;
  readonly purpose: Purpose;
  readonly sources: readonly NamedSource[];
}

/** The definition that was read last, on whichever replica. */
export type DefinitionGroups = Readonly<
  Record<'categories' | 'applications', readonly NamedGroup[]>
>;

export async function recordDefinition(
  pool: Pool,
  { categories, applications }: Definition,
): Promise<void> {
  const named = (groups: Definition['categories']): NamedGroup[] =>
    groups.map(({ id, group, purpose, sources }) => ({
      ...{ id, group, purpose },
      sources: sources.map(({ name, format, licence, commercialUse }) => ({
        ...{ name, format, licence, commercialUse },
      })),
    }));
  const groups = { categories: named(categories), applications: named(applications) };
  await pool.query(
    `INSERT INTO catalogue_definition AS known (groups) VALUES ($1)
     ON CONFLICT (id) DO UPDATE SET groups = excluded.groups WHERE known.groups <> excluded.groups`,
    [JSON.stringify(groups)],
  );
}

/** Empty before the first definition was read. */
export async function readDefinitionGroups(pool: Pool): Promise<DefinitionGroups> {
  const { rows } = await pool.query<{ groups: DefinitionGroups }>(
    'SELECT groups FROM catalogue_definition',
  );
  return rows[0]?.groups ?? { categories: [], applications: [] };
}
