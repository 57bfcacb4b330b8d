/** A definition, source or image that cannot be used. The message is one line for operators. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}

/** A definition with several faults. The message is that of the first one; a terminal shows all of them. */
export class DefinitionFaults extends CatalogueError {
  /** @param faults at least two, one line each. */
  constructor(readonly faults: readonly string[]) {
    super(`${faults[0] ?? ''} (and ${faults.length - 1} more)`);
  }
}
