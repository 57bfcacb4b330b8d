import {
  type CompiledCatalogue,
  compileCatalogue,
  type Definition,
  FORMAT_VERSION,
  type GroupDefinition,
  type ListedGroup,
  NameList,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { hash } from 'node:crypto';
import type { SourceState } from '../store/source-store.js';

/** A category or an application with what it is compiled from. */
interface GroupInputs extends Omit<
  GroupDefinition,
  'group' | 'isSample' | 'domainPlaces' | 'sources'
> {
  /** Of those sources that have a list: positions in `CatalogueInputs.lists` and `CompileTask.lists`. */
  readonly lists: readonly number[];
}

/** The groups of an image, and the names that it never has. */
interface Groups {
  readonly categories: readonly GroupInputs[];
  readonly applications: readonly GroupInputs[];
  /** Domains of `never_block`, and their parents. */
  readonly neverListed: readonly string[];
}

/** All that an image is compiled from, except the hash key, which never changes in a database. */
export interface CatalogueInputs extends Groups {
  /** The last accepted list of each source that has one; groups refer to them by position. */
  readonly lists: readonly SourceState[];
  /** SHA-256 of all inputs, hexadecimal. Equal inputs give equal images. */
  readonly sha256: string;
}

export interface CompileTask extends Groups {
  /** Stored lists, serialised by `NameList.toBytes`. */
  readonly lists: readonly Uint8Array[];
  /** For each of `lists` its protected names in the same form; empty: there are none. */
  readonly protectedNames: readonly Uint8Array[];
  readonly key: HashKey;
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

/** Compiles the groups into an image. @throws CatalogueError when a stored list is damaged, or of another key. */
export function compileGroups(task: CompileTask): CompiledCatalogue {
  const { key } = task;
  const whole = task.lists.map((bytes) => NameList.fromBytes(bytes, key));
  // At once also in lists that were read before the domain was in `never_block`.
  const never = NameList.of(task.neverListed, key);
  const guarded = whole.map((list, i) => {
    const bytes = task.protectedNames[i];
    const rest = bytes.length === 0 ? list : list.without(NameList.fromBytes(bytes, key));
    return rest.without(never);
  });
  const listed = (group: GroupInputs): ListedGroup => {
    const lists = group.lists.map((i) => (group.isGuarded ? guarded : whole)[i]);
    return { ...group, lists: [NameList.of(group.domains, key), ...lists] };
  };
  return compileCatalogue(
    { categories: task.categories.map(listed), applications: task.applications.map(listed) },
    key,
  );
}
