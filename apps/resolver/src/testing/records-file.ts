/** A file for `LOCAL_RECORDS`: a record a line, from texts such as `www.example 60 A 192.0.2.1`. */
export function recordsFile(...records: readonly string[]): string {
  return records.map((record) => `${recordLine(record)}\n`).join('');
}

function recordLine(record: string): string {
  const [, name, ttl, type, data] = /^(\S+)(?: (\d+))? ([A-Z]+) (.*)$/.exec(record) ?? [];
  if (name === undefined) return record;
  const fields = { name, type, data, ...(ttl !== undefined && { ttl: Number(ttl) }) };
  return `- ${JSON.stringify(fields)}`;
}
