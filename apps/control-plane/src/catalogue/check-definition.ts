import { CatalogueError, readDefinition } from '@weir/catalogue';
import { StartError } from '@weir/ops';

/**
 * Checks the definition in a folder before anything is started. A URL is not requested, because it may be unreachable
 * for a while.
 * @throws StartError, one line, when the definition cannot be used.
 */
export async function checkDefinition(location: string): Promise<void> {
  if (/^https?:\/\//i.test(location)) return;
  try {
    await readDefinition(location);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new StartError(`${error.message} (CATALOGUE)`, { cause: error });
  }
}
