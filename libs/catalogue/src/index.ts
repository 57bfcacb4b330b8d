export { CatalogueError, DefinitionFaults } from './catalogue-error.js';
export {
  type Definition,
  type GroupDefinition,
  type ListFormat,
  type SourceDefinition,
  type SourceLocation,
  sourcesOf,
} from './definition/definition.js';
export { parseDefinition } from './definition/parse-definition.js';
export { readDefinition } from './definition/read-definition.js';
export {
  type CompiledCatalogue,
  compileCatalogue,
  type ListedGroup,
  type ListedGroups,
} from './image/compile.js';
export { CatalogueImage, type ImageOptions } from './image/image.js';
export { FORMAT_VERSION, type GroupSummary } from './image/image-format.js';
export { type ByteStream, DEFAULT_LIMITS, type ListLimits } from './lists/list-limits.js';
export type { ListReport } from './lists/list-report.js';
export { type ReadList, readNames, type VisitName, visitNames } from './lists/read-names.js';
export { NameList } from './names/name-list.js';
export { type OpenedSource, type OpenOptions, openSource } from './sources/open-source.js';
