/** In one turn of the event loop. */
const MAX_GLITCHES = 100;

/**
 * Limits the glitches of all connections together: requests that their client resets (CVE-2023-44487), or that are
 * refused. Each costs as much time as a query, and hundreds come in one TLS record. Node's own limit of resets ends a
 * session only when all that was read at once has been handled.
 */
export class GlitchLimit {
  private left = MAX_GLITCHES;
  private turn: NodeJS.Immediate | undefined;

  /** Counts one. @returns whether they are too many in this turn */
  isExceeded(): boolean {
    this.turn ??= setImmediate(() => {
      this.turn = undefined;
      this.left = MAX_GLITCHES;
    });
    return --this.left < 0;
  }
}
