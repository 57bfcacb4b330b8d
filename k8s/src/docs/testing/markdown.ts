import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_FOLDER } from '../../paths.js';

/** The pages that are about the chart: every block of YAML in them is values. */
export const CHART_PAGES: readonly string[] = [
  'docs/operations/install-helm.md',
  'docs/operations/helm-special-cases.md',
  'k8s/weir/README.md',
];

/** Every page of the repository. */
export const PAGES: readonly string[] = globSync(
  ['*.md', 'docs/**/*.md', '{k8s,compose,catalogue,prisma,tools}/**/*.md', '{apps,libs}/*/*.md'],
  { cwd: REPOSITORY_FOLDER, exclude: (path) => path.includes('node_modules') },
).sort();

export const readPage = (path: string): string =>
  readFileSync(join(REPOSITORY_FOLDER, path), 'utf8');

/** Code blocks of a language in a Markdown text, those in lists too. */
export function codeBlocks(language: string, text: string): string[] {
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...blocks].map(([, indent, code]) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** Commands of a program that a Markdown text shows, in blocks and in sentences, each on one line. */
export function commandsOf(program: string, text: string): string[] {
  const sentences = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');
  const inline = [...sentences.matchAll(/`([^`]+)`/g)].map(([, code]) =>
    code.replaceAll(/\s+/g, ' '),
  );
  const lines = codeBlocks('sh', text)
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/ # .*$/, ''));
  return [...lines, ...inline]
    .flatMap((line) => line.split(/&&|\|/))
    .map((command) =>
      command
        .replace(/^\w+=\$\(/, '')
        .replace(/[)&\s]*$/, '')
        .trim(),
    )
    .filter((command) => command.startsWith(`${program} `));
}
