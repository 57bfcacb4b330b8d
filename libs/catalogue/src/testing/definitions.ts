import type { Definition, GroupDefinition } from '../definition.js';

export function group(id: number, ...domains: string[]): GroupDefinition {
  return { id, name: `group ${id}`, domains };
}

export function definition(
  categories: readonly GroupDefinition[],
  applications: readonly GroupDefinition[] = [],
): Definition {
  return { categories, applications, reports: [] };
}
