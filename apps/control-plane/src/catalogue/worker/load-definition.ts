import { CatalogueError, type Definition, readDefinition } from '@weir/catalogue';

export interface DefinitionTask {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly location: string;
}

export type DefinitionOutcome =
  | { readonly status: 'read'; readonly definition: Definition }
  | { readonly status: 'failed'; readonly problem: string };

/** Reads and parses the definition. */
export async function loadDefinition({ location }: DefinitionTask): Promise<DefinitionOutcome> {
  try {
    return { status: 'read', definition: await readDefinition(location) };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return { status: 'failed', problem: error.message };
  }
}
