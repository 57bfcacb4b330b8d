import { type Definition, FORMAT_VERSION, type GroupDefinition } from '@weir/catalogue';
import { hash } from 'node:crypto';
import type { SourceState } from '../store/source-store.js';
import type { GroupInputs } from '../worker/compile-groups.js';

/** All that an image is compiled from, except the hash key, which never changes in a database. */
export interface CatalogueInputs {
  readonly categories: readonly GroupInputs[];
  readonly applications: readonly GroupInputs[];
  /** The last accepted list of each source that has one; groups refer to them by position. */
  readonly lists: readonly SourceState[];
  /** See `CompileTask`. */
  readonly neverListed: readonly string[];
  /** SHA-256 of all inputs, hexadecimal. Equal inputs give equal images. */
  readonly sha256: string;
}

/** Combines a definition with the stored lists of its sources. A source that was never read adds nothing. */
export function collectInputs(
  { categories, applications, neverBlock }: Definition,
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
  const inputsOf = ({ sources, ...group }: GroupDefinition): GroupInputs => {
    const { id, name, purpose, mandatory, secret, domains, isGuarded, rewrites } = group;
    const lists = sources.flatMap((source) => listOf(source.name));
    return { id, name, purpose, mandatory, secret, domains, lists, isGuarded, rewrites };
  };
  const groups = { categories: categories.map(inputsOf), applications: applications.map(inputsOf) };
  const neverListed = [...new Set(neverBlock.flatMap(withParents))].sort();
  const hashes = lists.map(({ namesSha256 }) => namesSha256);
  const sha256 = hash('sha256', JSON.stringify([FORMAT_VERSION, groups, hashes, neverListed]));
  return { ...groups, lists, neverListed, sha256 };
}

/** A domain and all above it. */
function withParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}
