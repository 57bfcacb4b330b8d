import {
  CatalogueError,
  type CompiledCatalogue,
  compileCatalogue,
  readDefinition,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { type Logger, StartError } from '@weir/ops';

/**
 * Reads and compiles the catalogue of the deployment.
 * @throws StartError in one line when its definition cannot be used.
 */
export async function loadCatalogue(
  folder: string,
  key: HashKey,
  log: Logger,
): Promise<CompiledCatalogue> {
  try {
    const definition = await readDefinition(folder);
    for (const report of definition.reports) {
      if (report.invalidLines > 0) log.warn({ report }, 'a catalogue source has invalid lines');
    }
    return compileCatalogue(definition, key);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new StartError(`${error.message} (CATALOGUE)`, { cause: error });
  }
}
