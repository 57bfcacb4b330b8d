/** Each takes memory in every connection of PostgreSQL. */
const MOST_NAMES = 200;
/** The protocol's name for a statement that is parsed and planned each time. */
const UNNAMED = '';

/**
 * Gives each text of a statement a name, under which a connection prepares it once. Texts that come when all names are
 * given go without: Prisma writes another one for each length of a list.
 */
export function namedStatements(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= MOST_NAMES) return UNNAMED;
    const name = `weir_${names.size}`;
    names.set(sql, name);
    return name;
  };
}
