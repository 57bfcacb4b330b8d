/** A Markdown table. The first column has text, the others have figures. */
export function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const separator = headings.map((_, i) => (i === 0 ? '---' : '--:'));
  return [headings, separator, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
