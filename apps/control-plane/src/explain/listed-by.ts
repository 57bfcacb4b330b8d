import type { SuffixHashes } from '@weir/dns-name';
import type { Pool } from 'pg';
import { readDefinitionGroups } from '../catalogue/store/definition-store.js';

const TWO_TO_32 = 4_294_967_296;
const HASH_BYTES = 8;
/** Of a stored list, before its hashes: see `NameList`. */
const HEADER_BYTES = 32;
/**
 * Hashes read on either side of where one is expected. They are evenly spread: of ten million, none is further away
 * than ten standard deviations.
 */
const REACH = 16_384;

const READ_AROUND = `
  SELECT substring(names FROM ${HEADER_BYTES + 1} + ${HASH_BYTES} * greatest(0, floor(
    $2::float8 * ((octet_length(names) - ${HEADER_BYTES}) / ${HASH_BYTES}))::integer - ${REACH})
    FOR ${2 * REACH * HASH_BYTES}) AS hashes
  FROM catalogue_source WHERE name = $1`;

/**
 * What brings a name into a category: the file or URL of the first of its lists that holds it, else `inline`. Reads a
 * part of each list.
 * @param suffix index of the listed suffix of the name.
 * @returns null when no definition has the category.
 */
export async function listedBy(
  pool: Pool,
  categoryId: number,
  names: SuffixHashes,
  suffix: number,
): Promise<string | null> {
  const { categories } = await readDefinitionGroups(pool);
  const category = categories.find(({ id }) => id === categoryId);
  if (category === undefined) return null;
  const [low, high] = [names.low[suffix], names.high[suffix]];
  for (const { name } of category.sources) {
    const { rows } = await pool.query<{ hashes: Buffer | null }>({
      name: 'weir_listed_by',
      text: READ_AROUND,
      values: [name, high / TWO_TO_32],
    });
    if (holds(rows[0]?.hashes ?? Buffer.of(), low, high)) return name;
  }
  return 'inline';
}

function holds(hashes: Buffer, low: number, high: number): boolean {
  for (let at = 0; at + HASH_BYTES <= hashes.length; at += HASH_BYTES) {
    if (hashes.readUInt32LE(at) === low && hashes.readUInt32LE(at + 4) === high) return true;
  }
  return false;
}
