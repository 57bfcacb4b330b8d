/** Metrics as a process tells them: name → labels of its samples; none: there is no sample of it. */
export type Exposition = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the text that Prometheus scrapes. The names of a histogram are those of its series. */
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
