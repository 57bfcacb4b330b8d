import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GroupDefinition } from '../../definition/definition.js';
import { readDefinition } from '../../definition/read-definition.js';

/** The folder of the default catalogue. */
export const FOLDER = fileURLToPath(new URL('../../../../../catalogue', import.meta.url));

/** A category or an application, with the names of its lists. */
export interface DefaultGroup extends GroupDefinition {
  readonly names: ReadonlySet<string>;
}

/** What the default catalogue lists. */
export async function readDefaultCatalogue() {
  const { categories, applications } = await readDefinition(FOLDER);
  return {
    categories: await Promise.all(categories.map(withNames)),
    applications: await Promise.all(applications.map(withNames)),
  };
}

async function withNames(group: GroupDefinition): Promise<DefaultGroup> {
  return { ...group, names: (await namesOfLists(group)).union(new Set(group.domains)) };
}

export async function namesOfLists({ sources }: GroupDefinition): Promise<Set<string>> {
  const lists = sources.map(({ name }) => readFile(join(FOLDER, name), 'utf8'));
  return new Set((await Promise.all(lists)).flatMap(namesIn));
}

/** The names of a list of format `domains`. */
export function namesIn(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Whether the name, or one above it, is among them. */
export function covers(names: ReadonlySet<string>, name: string): boolean {
  const labels = name.split('.');
  return labels.some((_, i) => names.has(labels.slice(i).join('.')));
}
