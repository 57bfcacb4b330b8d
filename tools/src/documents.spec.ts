import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesLike = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '--', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)));
const documents = filesLike('*.md');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Fragments by which GitHub links to the headings of a text. */
function fragmentsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading.toLowerCase());
  return headings.map((heading) =>
    heading.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-'),
  );
}

/** Where a compiled file comes from; other files are their own source. */
function sourceOf(path: string): string {
  return path.includes('/dist/') ? path.replace('/dist/', '/src/').replace(/\.js$/, '.ts') : path;
}

it('finds the documents', () => {
  expect(documents.length).toBeGreaterThan(40);
  expect(documents).toContain('README.md');
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  it('links to files and headings that exist', () => {
    for (const [link, file, fragment] of text.matchAll(
      /\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g,
    )) {
      const target = file === '' ? path : join(path, '..', file);
      expect(existsSync(join(root, target)), link).toBe(true);
      if (fragment !== undefined) expect(fragmentsOf(read(target)), link).toContain(fragment);
    }
  });

  it('names npm scripts and files of commands that exist', () => {
    for (const [command, script] of text.matchAll(/npm run ([a-z][\w-]*(?::[\w-]+)*)(?![\w:])/g)) {
      expect(scripts, command).toHaveProperty([script]);
    }
    for (const [command, file] of text.matchAll(
      /\bnode ((?:apps|libs|tools|k8s|compose)\/\S+?\.m?js)/g,
    )) {
      expect(existsSync(join(root, sourceOf(file))), command).toBe(true);
    }
  });
});

describe('references to sections of docs/decisions.md', () => {
  const text = read('docs/decisions.md');
  const sections = Array.from(text.matchAll(/^## (§\d+) /gm), ([, section]) => section);
  const sources = filesLike(
    '*.ts',
    '*.mjs',
    '*.md',
    '*.prisma',
    '*.sql',
    '*.tpl',
    '*.yaml',
    '*.sh',
  );
  // A line of a comment may end between the words.
  const reference = /\bdecisions(?:\.md)?\)?(?:[\s,*#/]|and)*((?:§\d+(?:[\s,*#/]|and)*)+)/g;
  const references = sources.flatMap((path) =>
    Array.from(read(path).matchAll(reference), ([, named]) =>
      Array.from(named.matchAll(/§\d+/g), ([section]) => ({ path, section })),
    ).flat(),
  );

  it('are found, also where they name several sections', () => {
    expect(references.length).toBeGreaterThan(50);
    const path = 'libs/policy/src/policy-reader.ts';
    for (const section of ['§5', '§7', '§8']) expect(references).toContainEqual({ path, section });
  });

  it('name sections that exist', () => {
    expect(references.filter(({ section }) => !sections.includes(section))).toEqual([]);
    const own = Array.from(text.matchAll(/§\d+/g), ([section]) => section);
    expect(own.filter((section) => !sections.includes(section))).toEqual([]);
  });

  it('can rely on one numbering in ascending order', () => {
    const numbers = sections.map((section) => Number(section.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(numbers.slice(0, 13)).toEqual(Array.from({ length: 13 }, (_, i) => i + 1));
  });
});

describe('the glossary', () => {
  const entries = Array.from(
    read('docs/glossary.md').matchAll(/^- \*\*(.+?)\*\* \((.+?)\):/gm),
    ([, term, list]) => [term, list] as const,
  );
  const code = filesLike('apps/*.ts', 'libs/*.ts', 'prisma/*.sql', ':!*.spec.ts', ':!*/testing/*');
  const words = new Set(code.flatMap((path) => read(path).match(/\w+/g) ?? []));

  it('has its entries in one form', () => {
    expect(entries.length).toBe(read('docs/glossary.md').match(/^- /gm)?.length);
  });

  it.each(entries)('names what the code has: %s', (_term, list) => {
    const names = Array.from(list.matchAll(/`(\w+)`/g), ([, name]) => name);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });
});
