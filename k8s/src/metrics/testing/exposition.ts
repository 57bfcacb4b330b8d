/** Metrics that a process exposes: name → labels of its samples. The set is empty if the metric has no sample. */
export type Exposition = ReadonlyMap<string, ReadonlySet<string>>;

/** Parses the Prometheus text format. A histogram is listed under the names of its series (_bucket, _count, _sum). */
export function parseExposition(text: string): Exposition {
  const metrics = new Map<string, Set<string>>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    for (const suffix of suffixes) metrics.set(name + suffix, new Set());
  }
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    for (const [, label] of labels.matchAll(/(\w+)="/g)) metrics.get(name)?.add(label);
  }
  return metrics;
}
