import type { LoggedChange } from '@weir/change-feed';

/** All followers have asked for it by then. */
const KEPT_MS = 60_000;
/** The log has no such change. */
const NOTHING: LoggedChange = { revision: -1, digest: '', operations: '[]' };

/**
 * The last large change of this replica. Followers ask for it at once, and PostgreSQL takes long to make text of the
 * operations that it has stored. It may not be committed: who uses it has to find its revision and digest in the log.
 */
export class KeptOperations {
  last = NOTHING;
  private timer: NodeJS.Timeout | undefined;

  keep(change: LoggedChange): void {
    this.last = change;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.last = NOTHING;
    }, KEPT_MS).unref();
  }
}
