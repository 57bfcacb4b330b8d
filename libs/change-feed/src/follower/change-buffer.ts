import type { Change, Head } from '@weir/config-model';

/** Most changes kept while a snapshot loads; past that the log is asked. */
const MAX_CHANGES = 10_000;

/** Changes that are not in force yet, all of one log. */
export class ChangeBuffer {
  private readonly changes = new Map<number, Change>();
  private lineage: string | null = null;

  /** Keeps a change as long as there is room. One of another log than those before takes their place. */
  add(lineage: string | null, change: Change): void {
    if (lineage !== this.lineage) this.changes.clear();
    this.lineage = lineage;
    if (this.changes.size < MAX_CHANGES) this.changes.set(change.revision, change);
  }

  /** The change that leads on from there. */
  nextAfter({ lineage, revision }: Head): Change | undefined {
    return lineage === this.lineage ? this.changes.get(revision + 1) : undefined;
  }

  /** Forgets what is in force there. */
  dropThrough({ lineage, revision: inForce }: Head): void {
    if (lineage !== this.lineage) return;
    for (const revision of this.changes.keys()) {
      if (revision <= inForce) this.changes.delete(revision);
    }
  }

  clear(): void {
    this.changes.clear();
  }
}
