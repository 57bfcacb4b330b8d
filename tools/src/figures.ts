/** The percentile of the values for a share from 0 to 1; 1 is the largest value. NaN if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A Markdown table. The first column has text, the others have figures. */
export function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const separator = headings.map((_, i) => (i === 0 ? '---' : '--:'));
  return [headings, separator, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
