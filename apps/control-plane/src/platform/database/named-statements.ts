/** Each prepared statement takes memory in every connection of PostgreSQL. */
const MAX_NAMES = 200;
/** The protocol's name for a statement that is not kept: it is parsed and planned each time. */
const UNNAMED = '';

/**
 * Names each distinct statement, so that a connection prepares it once. When all names are used up, further statements
 * stay unnamed: Prisma writes a different text for each length of a list.
 */
export function namedStatements(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMES) return UNNAMED;
    const name = `weir_${names.size}`;
    names.set(sql, name);
    return name;
  };
}
