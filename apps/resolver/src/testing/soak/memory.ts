/** Memory of a process at one moment, in MiB, and its open sockets and timers. */
export interface MemorySample {
  readonly second: number;
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
  readonly resources: number;
}

const MEBIBYTE = 2 ** 20;
const METRICS = {
  rss: 'process_resident_memory_bytes',
  heap: 'nodejs_heap_size_used_bytes',
  external: 'nodejs_external_memory_bytes',
} as const;

/** Reads the memory of a resolver from its metrics. */
export async function sampleMemory(opsPort: number, second: number): Promise<MemorySample> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const value = (name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  const mebibytes = (name: string): number => value(name) / MEBIBYTE;
  return {
    second,
    rss: mebibytes(METRICS.rss),
    heap: mebibytes(METRICS.heap),
    external: mebibytes(METRICS.external),
    resources: value('nodejs_active_resources_total'),
  };
}

/** What a resolver itself says about queries without an answer. */
export async function readLosses(opsPort: number): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const lines = text.matchAll(/^weir_resolver_((?:dropped|udp_kernel_drops).*) ([1-9].*)$/gm);
  return [...lines].map(([, name, value]) => `${name} ${value}`).join(', ') || 'none';
}

/** Allowed growth from the second third of a run to the last: noise of the garbage collector, not a leak. */
const MAX_HEAP_GROWTH = 6;
const MAX_RSS_GROWTH = 24;
/** Some clients are connected for one query just then. */
const MAX_MORE_RESOURCES = 20;

/**
 * Whether memory is stable: the least heap, resident memory, and sockets and timers in the last third of the samples
 * are about those in the second. The least is what garbage collection leaves: V8 lets garbage of tens of MiB lie.
 * @returns what grows, or null
 */
export function growthOf(samples: readonly MemorySample[]): string | null {
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(-third)];
  const growthOfLeast = (of: (sample: MemorySample) => number): number =>
    Math.min(...last.map(of)) - Math.min(...middle.map(of));
  const more = growthOfLeast(({ resources }) => resources);
  if (more > MAX_MORE_RESOURCES) return `sockets and timers by ${more}`;
  const heapGrowth = growthOfLeast(({ heap, external }) => heap + external);
  if (heapGrowth > MAX_HEAP_GROWTH) return `heap by ${heapGrowth.toFixed(1)} MiB`;
  const rssGrowth = growthOfLeast(({ rss }) => rss);
  return rssGrowth > MAX_RSS_GROWTH ? `resident memory by ${rssGrowth.toFixed(1)} MiB` : null;
}
