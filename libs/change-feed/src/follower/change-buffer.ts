import type { Change, Head } from '@weir/config-model';

/** Most changes kept while a snapshot loads; past that the log is asked. */
const MOST = 10_000;

/** Changes that are not in force yet, all of one log. */
export class ChangeBuffer {
  private readonly changes = new Map<number, Change>();
  private lineage: string | null = null;

  /** Keeps a change as long as there is room. One of another log than those before takes their place. */
  add(lineage: string | null, change: Change): void {
    if (lineage !== this.lineage) this.changes.clear();
    this.lineage = lineage;
    if (this.changes.size < MOST) this.changes.set(change.revision, change);
  }

  /** The change that leads on from there. */
  after({ lineage, revision }: Head): Change | undefined {
    return lineage === this.lineage ? this.changes.get(revision + 1) : undefined;
  }

  /** Forgets what is in force there. */
  dropUntil({ lineage, revision: inForce }: Head): void {
    if (lineage !== this.lineage) return;
    for (const revision of this.changes.keys()) {
      if (revision <= inForce) this.changes.delete(revision);
    }
  }

  clear(): void {
    this.changes.clear();
  }
}
