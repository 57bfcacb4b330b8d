import { CatalogueError, type Definition, readDefinition } from '@weir/catalogue';

export interface DefinitionTask {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly location: string;
  /** Names of sets that are on besides those that it includes. */
  readonly sets: readonly string[];
}

export type DefinitionOutcome =
  | { readonly status: 'read'; readonly definition: Definition }
  | { readonly status: 'failed'; readonly problem: string };

/** Reads and parses the definition. */
export async function loadDefinition({
  location,
  sets,
}: DefinitionTask): Promise<DefinitionOutcome> {
  try {
    return { status: 'read', definition: await readDefinition(location, sets) };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}
