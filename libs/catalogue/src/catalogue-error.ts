/** A definition, source or image that cannot be used. One line, fit for a log and for whoever wrote the file. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}
