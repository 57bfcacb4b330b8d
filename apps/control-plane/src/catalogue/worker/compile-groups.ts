import {
  CatalogueError,
  type CompiledCatalogue,
  compileCatalogue,
  type GroupDefinition,
  type ListedGroup,
  NameList,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';

/** A category or an application with what it is compiled from. */
export interface GroupInputs {
  readonly id: number;
  readonly name: string;
  /** Domains written in the definition itself. */
  readonly domains: readonly string[];
  /** Positions in `CompileTask.lists`. */
  readonly lists: readonly number[];
  /** Left out when there are none. */
  readonly rewrites?: GroupDefinition['rewrites'];
}

export interface CompileTask {
  readonly categories: readonly GroupInputs[];
  readonly applications: readonly GroupInputs[];
  /** Stored lists, serialised by `NameList.toBytes`. */
  readonly lists: readonly Uint8Array[];
  readonly key: HashKey;
}

export type CompileOutcome =
  | { readonly status: 'compiled'; readonly compiled: CompiledCatalogue }
  | { readonly status: 'failed'; readonly problem: string };

/** Compiles the groups into an image. It fails when a stored list is damaged or was made with another key. */
export function compileGroups(task: CompileTask): CompileOutcome {
  try {
    return { status: 'compiled', compiled: compile(task) };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}

function compile(task: CompileTask): CompiledCatalogue {
  const { key } = task;
  const lists = task.lists.map((bytes) => NameList.fromBytes(bytes, key));
  const listed = (group: GroupInputs): ListedGroup => ({
    id: group.id,
    name: group.name,
    lists: [NameList.of(group.domains, key), ...group.lists.map((i) => lists[i])],
    ...(group.rewrites !== undefined && { rewrites: group.rewrites }),
  });
  return compileCatalogue(
    { categories: task.categories.map(listed), applications: task.applications.map(listed) },
    key,
  );
}
