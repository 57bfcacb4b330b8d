import {
  type CompiledCatalogue,
  compileCatalogue,
  type GroupDefinition,
  type ListedGroup,
  NameList,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';

/** A category or an application with what it is compiled from. */
export interface GroupInputs extends Omit<
  GroupDefinition,
  'group' | 'isSample' | 'domainPlaces' | 'sources'
> {
  /** Of those sources that have a list: positions in `CompileTask.lists`. */
  readonly lists: readonly number[];
}

export interface CompileTask {
  readonly categories: readonly GroupInputs[];
  readonly applications: readonly GroupInputs[];
  /** Stored lists, serialised by `NameList.toBytes`. */
  readonly lists: readonly Uint8Array[];
  /** For each of `lists` its protected names in the same form; empty: there are none. */
  readonly protectedNames: readonly Uint8Array[];
  /** Domains of `never_block`, and their parents. */
  readonly neverListed: readonly string[];
  readonly key: HashKey;
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
