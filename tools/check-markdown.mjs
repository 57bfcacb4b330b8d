// Fails when a line of prose in a Markdown file is wider than 120 columns. Tables, code blocks and URLs may be wider.
import { globSync, readFileSync } from 'node:fs';

const MAX_COLUMNS = 120;

const NOT_OURS = ['**/{node_modules,dist,coverage,generated,.weir,.nx}/**'];

/** The lines of prose that are too wide, as [line number, columns]. */
function wideLines(text) {
  const wide = [];
  let inCodeBlock = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(line)) inCodeBlock = !inCodeBlock;
    if (inCodeBlock || /^\s*\|/.test(line)) continue;
    const withoutUrls = line.replace(/\]\([^)]*\)|https?:\/\/\S+/g, '');
    if (withoutUrls.length > MAX_COLUMNS) wide.push([index + 1, line.length]);
  }
  return wide;
}

let faults = 0;
for (const file of globSync('**/*.md', { exclude: NOT_OURS }).sort()) {
  for (const [line, columns] of wideLines(readFileSync(file, 'utf8'))) {
    faults += 1;
    process.stderr.write(`${file}:${line}: ${columns} columns, at most ${MAX_COLUMNS}\n`);
  }
}
process.exitCode = faults === 0 ? 0 : 1;
