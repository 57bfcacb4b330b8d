// Fails when a line is wider than 120 columns: of prose in Markdown, or of code. URLs may be wider, and tables and code
// blocks of Markdown, and template literals.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const MAX_COLUMNS = 120;
const FILES = ['*.md', '*.ts', '*.tsx', '*.mjs', '*.cjs'];
const URLS = /\]\([^)]*\)|https?:\/\/\S+/g;

/** Whether a line begins or ends a code block of Markdown, or a template literal. */
const changesState = {
  md: (line) => /^\s*(```|~~~)/.test(line),
  code: (line) =>
    !/^\s*(\/?\*|\/\/)/.test(line) && line.replaceAll('\\`', '').split('`').length % 2 === 0,
};
/** Whether a line may have any width, outside of such a block. */
const isFree = {
  md: (line) => /^\s*\|/.test(line),
  code: (line) => line.includes('`') && !/^\s*(\/?\*|\/\/)/.test(line),
};

/** The lines that are too wide, as [line number, columns]. */
function wideLines(text, kind) {
  const wide = [];
  let isInside = false;
  for (const [index, line] of text.split('\n').entries()) {
    const wasInside = isInside;
    if (changesState[kind](line)) isInside = !isInside;
    if (wasInside || isInside || isFree[kind](line)) continue;
    if (line.replace(URLS, '').length > MAX_COLUMNS) wide.push([index + 1, line.length]);
  }
  return wide;
}

const { stdout, stderr, status } = spawnSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z', '--', ...FILES],
  { encoding: 'utf8' },
);
if (status !== 0) throw new Error(stderr);
let faults = 0;
for (const file of stdout.split('\0').filter(existsSync)) {
  const text = readFileSync(file, 'utf8');
  for (const [line, columns] of wideLines(text, file.endsWith('.md') ? 'md' : 'code')) {
    faults += 1;
    process.stderr.write(`${file}:${line}: ${columns} columns, at most ${MAX_COLUMNS}\n`);
  }
}
process.exitCode = faults === 0 ? 0 : 1;
