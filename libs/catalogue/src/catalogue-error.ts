/** A definition, source or image that cannot be used. One line, fit for a log and for whoever wrote the file. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}

/** A definition with several faults. The message is the first one's; all of them are for a terminal. */
export class DefinitionFaults extends CatalogueError {
  /** @param faults two at least, a line each. */
  constructor(readonly faults: readonly string[]) {
    super(`${faults[0] ?? ''} (and ${faults.length - 1} more)`);
  }
}
