import { type Definition, type GroupDefinition, FORMAT_VERSION } from '@weir/catalogue';
import { createHash } from 'node:crypto';
import type { KeptGroup } from '../worker/catalogue-tasks.js';
import type { SourceState } from '../store/source-store.js';

/** All that an image is compiled from, beside the key, which a database has for life. */
export interface CatalogueInputs {
  readonly categories: readonly KeptGroup[];
  readonly applications: readonly KeptGroup[];
  /** The last good list of each source that has one; groups refer to them by position. */
  readonly lists: readonly SourceState[];
  /** Of all this: equal inputs give equal images. */
  readonly sha256: string;
}

/** Brings a definition and what is kept of its sources together. A source that never gave anything lists nothing. */
export function inputsOf(
  { categories, applications }: Definition,
  states: ReadonlyMap<string, SourceState>,
): CatalogueInputs {
  const positions = new Map<string, number>();
  const lists: SourceState[] = [];
  const listOf = (name: string): number[] => {
    const state = states.get(name);
    if (!state?.namesSha256) return [];
    if (!positions.has(name)) positions.set(name, lists.push(state) - 1);
    return [positions.get(name) as number];
  };
  const kept = ({ id, name, domains, sources }: GroupDefinition): KeptGroup => {
    return { id, name, domains, lists: sources.flatMap((source) => listOf(source.name)) };
  };
  const groups = { categories: categories.map(kept), applications: applications.map(kept) };
  const hashes = lists.map(({ namesSha256 }) => namesSha256);
  const text = JSON.stringify([FORMAT_VERSION, groups, hashes]);
  return { ...groups, lists, sha256: createHash('sha256').update(text).digest('hex') };
}
