export { CatalogueError } from './catalogue-error.js';
export {
  type Definition,
  type GroupDefinition,
  isSecretSource,
  type SourceDefinition,
  sourcesOf,
} from './definition/definition.js';
export {
  compareImages,
  type GroupDifference,
  type NameChanges,
  type NameHash,
} from './delta/compare-images.js';
export type { ImageBytes } from './delta/stored-image.js';
export { writeDelta } from './delta/delta.js';
export { publicName } from './definition/parse-definition.js';
export {
  type DigestedDefinition,
  isSameDefinition,
  readDefinition,
  readWithDigests,
} from './definition/read-definition.js';
export { disableSet, enableSet, readSets } from './definition/sets.js';
export { type CompiledCatalogue, compileCatalogue, type ListedGroup } from './image/compile.js';
export { CatalogueImage } from './image/image.js';
export { FORMAT_VERSION } from './image/image-format.js';
export {
  type ByteStream,
  DEFAULT_LIMITS,
  LIST_FORMATS,
  type ListExample,
  type ListFormat,
  type ListReport,
} from './lists/list.js';
export { isPublicSuffix, NeverBlock } from './lists/never-block.js';
export {
  type ReadList,
  readNames,
  type ReadOptions,
  type VisitName,
  visitNames,
} from './lists/read-names.js';
export { readChanges } from './lists/read-changes.js';
export { HASH_BYTES, HEADER_BYTES, NameList } from './names/name-list.js';
export { lineOf, type PlacedNames, placeNames, searchNames } from './names/name-places.js';
export { openSource, tryMirrors } from './sources/open-source.js';
export { isTransfer } from './sources/open-transfer.js';
export type { OpenOptions, SourceLocation, Transfer } from './sources/source.js';
export { TSIG_KEY } from './transfer/tsig.js';
