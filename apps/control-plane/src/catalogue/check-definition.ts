import { CatalogueError, readDefinition } from '@weir/catalogue';
import { StartError } from '@weir/ops';

/**
 * Finds the faults of a definition before anything is started. A URL is not asked: it may be out of reach for a while.
 * @throws StartError in one line when the definition in a folder cannot be used.
 */
export async function checkDefinition(place: string): Promise<void> {
  if (/^https?:\/\//i.test(place)) return;
  try {
    await readDefinition(place);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new StartError(`${error.message} (CATALOGUE)`, { cause: error });
  }
}
