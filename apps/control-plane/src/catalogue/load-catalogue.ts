import {
  CatalogueError,
  type CompiledCatalogue,
  compileCatalogue,
  listGroups,
  type NameList,
  readDefinition,
  readSource,
  sourcesOf,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import { type Logger, StartError } from '@weir/ops';

/**
 * Reads and compiles the catalogue of the deployment.
 * @throws StartError in one line when its definition or one of its sources cannot be used.
 */
export async function loadCatalogue(
  folder: string,
  key: HashKey,
  log: Logger,
): Promise<CompiledCatalogue> {
  try {
    const definition = await readDefinition(folder);
    const lists = new Map<string, NameList>();
    for (const source of sourcesOf(definition)) {
      const { names, report } = await readSource(source, key);
      if (report.invalidLines > 0) {
        log.warn({ source: source.name, report }, 'a catalogue source has invalid lines');
      }
      if (names.count === 0) {
        throw new CatalogueError(`${source.declaredAt}: ${source.name} lists no domain`);
      }
      lists.set(source.name, names);
    }
    const namesOf = ({ name }: { name: string }): NameList => lists.get(name) as NameList;
    return compileCatalogue(listGroups(definition, namesOf, key), key);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new StartError(`${error.message} (CATALOGUE)`, { cause: error });
  }
}
