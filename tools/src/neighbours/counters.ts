/** Counters of ordinary work, which goes on during the attack too. */
const ORDINARY =
  /^(queries|cache_|upstream_(queries|results|tcp)|coalesced|feed|query_log|upstream_probes)/;

/** Values of the counters of a resolver, by name and labels. */
export type Counters = ReadonlyMap<string, number>;

/** Reads all counters from the metrics page of a resolver. */
export function parseCounters(page: string): Counters {
  const counters = new Map<string, number>();
  for (const line of page.split('\n')) {
    const [, name, labels = '', value] =
      /^weir_resolver_(\w+)_total(\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    counters.set(name + labels, Number(value));
  }
  return counters;
}

export async function readCounters(opsUrl: string): Promise<Counters> {
  const response = await fetch(`${opsUrl}/metrics`);
  return parseCounters(await response.text());
}

/** What changed, apart from ordinary work. */
export function changes(before: Counters, after: Counters): Readonly<Record<string, number>> {
  const changed = [...after]
    .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
    .filter(([name, difference]) => difference !== 0 && !ORDINARY.test(name));
  return Object.fromEntries(changed);
}

export const KERNEL_DROPS = 'udp_kernel_drops';
