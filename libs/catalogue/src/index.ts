export { CatalogueError } from './catalogue-error.js';
export { type CompiledCatalogue, compileCatalogue } from './compile.js';
export type { Definition, GroupDefinition, SourceReport } from './definition.js';
export { CatalogueImage, type ImageOptions } from './image.js';
export type { GroupSummary } from './image-format.js';
export { readDefinition } from './read-definition.js';
