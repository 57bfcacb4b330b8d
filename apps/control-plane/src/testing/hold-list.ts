import { expect, vi } from 'vitest';
import type { Harness } from './harness.js';

/** A category of the definition gets a source whose new list is held back, as a job of the catalogue would do it. */
export async function holdList(
  { sql }: Pick<Harness, 'sql'>,
  categoryId: number,
  source: string,
): Promise<void> {
  // The first look at the definition comes after the start, and the next one an hour later.
  const look = `SELECT failures FROM job_run WHERE name = 'catalogue-look'`;
  await vi.waitFor(async () => expect(await sql(look)).toEqual([[0]]), { timeout: 60_000 });
  const named = { name: source, format: 'domains', licence: null, commercialUse: null };
  const group = { id: categoryId, name: 'Held', purpose: 'other', sources: [named], inline: [] };
  await sql(`
    UPDATE catalogue_definition
    SET groups = jsonb_set(groups, '{categories}', groups -> 'categories' || '[${JSON.stringify(group)}]'::jsonb);
    INSERT INTO catalogue_source (name, format, domain_count, names, names_sha256, last_attempt_at)
    VALUES ('${source}', 'domains', 1, '', repeat('0', 64), now()) ON CONFLICT DO NOTHING;
    INSERT INTO catalogue_held
      (name, format, domain_count, invalid_count, protected_count, names, names_sha256, read_with)
    VALUES ('${source}', 'domains', 5, 0, 0, '', repeat('1', 64), '') ON CONFLICT DO NOTHING`);
}
