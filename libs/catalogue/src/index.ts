export { CatalogueError, DefinitionFaults } from './catalogue-error.js';
export type {
  Definition,
  GroupDefinition,
  ListFormat,
  SourceDefinition,
  SourceLocation,
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
export { type ReadList, readNames } from './lists/read-names.js';
export { NameList } from './names/name-list.js';
export { listGroups, readSource, sourcesOf } from './read-source.js';
export { type OpenedSource, type OpenOptions, openSource } from './sources/open-source.js';
