import type { Change, Head, Operation } from '@weir/config-model';

/** Most changes kept while a snapshot loads. Those that do not fit are fetched from the feed API later. */
export const MAX_CHANGES = 10_000;
/** Most operations of all of them, an item of a list counting as one: about 50 MB. */
export const MAX_OPERATIONS = 200_000;

/** Changes that were received and are not in force yet, all of one log: those that come first, if not all fit. */
export class ChangeBuffer {
  private readonly changes = new Map<number, Change>();
  private lineage: string | null = null;
  private operations = 0;
  /** None that is kept has a higher revision. */
  private newest = -1;

  /**
   * Keeps a change if there is room, in place of later ones if need be. A change of another log replaces those of the
   * log before. So does one with another digest than the one of its revision: the log was set back, and what was
   * received after that one is of a past that is lost.
   */
  add(lineage: string, change: Change): void {
    if (lineage !== this.lineage) this.clear();
    this.lineage = lineage;
    const { revision } = change;
    const known = this.changes.get(revision);
    if (known !== undefined && known.digest !== change.digest) this.removeFrom(revision);
    else this.remove(revision);
    const size = sizeOf(change);
    // While it is full, most that come are later ones. They must not cost a sort.
    const isLatest = this.changes.size > 0 && revision > this.newest;
    if (isLatest && !this.hasRoomFor(1, size)) return;
    this.changes.set(revision, change);
    this.operations += size;
    this.newest = Math.max(this.newest, revision);
    if (!this.hasRoomFor(0, 0)) this.makeRoom();
  }

  /** The change that follows this revision; undefined: it was not received. */
  nextAfter({ lineage, revision }: Head): Change | undefined {
    return lineage === this.lineage ? this.changes.get(revision + 1) : undefined;
  }

  /** Forgets the changes up to this revision: they are in force. The walk takes 12 µs on average when 10,000 wait. */
  dropThrough({ lineage, revision: inForce }: Head): void {
    if (lineage !== this.lineage) return;
    for (const revision of this.changes.keys()) {
      if (revision <= inForce) this.remove(revision);
    }
  }

  remove(revision: number): void {
    const change = this.changes.get(revision);
    if (change === undefined) return;
    this.changes.delete(revision);
    this.operations -= sizeOf(change);
  }

  clear(): void {
    this.changes.clear();
    this.operations = 0;
    this.newest = -1;
  }

  private hasRoomFor(changes: number, operations: number): boolean {
    const size = this.changes.size + changes;
    return size <= MAX_CHANGES && this.operations + operations <= MAX_OPERATIONS;
  }

  private removeFrom(first: number): void {
    for (const revision of this.changes.keys()) {
      if (revision >= first) this.remove(revision);
    }
  }

  /** Removes the latest ones. The first one stays, however large it is. */
  private makeRoom(): void {
    const latestFirst = [...this.changes.keys()].sort((a, b) => b - a);
    for (const revision of latestFirst.slice(0, -1)) {
      if (this.hasRoomFor(0, 0)) return;
      this.remove(revision);
    }
  }
}

/** At least 1. */
function sizeOf({ operations }: Change): number {
  return operations.reduce((size, operation) => size + 1 + itemsOf(operation), 1);
}

function itemsOf(operation: Operation): number {
  if (operation.type !== 'put') return 0;
  const fields: unknown[] = Object.values(operation.entity);
  return fields.reduce<number>((n, one) => n + (Array.isArray(one) ? one.length : 0), 0);
}
