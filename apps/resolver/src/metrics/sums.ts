/** The sum over threads, position by position. There is one thread at least. */
export function sumOf(threads: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(threads[0].length);
  for (const counts of threads) for (let i = 0; i < sum.length; i++) sum[i] += counts[i];
  return sum;
}

/** Counts by the names of their positions. */
export function named<Name extends string>(
  positions: Readonly<Record<Name, number>>,
  counts: Float64Array,
): Record<Name, number> {
  const entries = Object.entries<number>(positions).map(([name, at]) => [name, counts[at]]);
  return Object.fromEntries(entries) as Record<Name, number>;
}
