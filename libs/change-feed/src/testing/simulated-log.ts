import type { Change, Head, Operation } from '@weir/config-model';
import type { ChangesPage } from '../protocol/changes.js';

/** Changes in one answer of the simulated feed API. */
const PAGE_SIZE = 3;

/** What a commit adds to the configuration, or everything that it replaces it with. */
type Entry = { readonly added: number } | { readonly replacedWith: readonly number[] };

/** A configuration and the point of the log that it belongs to. */
export interface SimulatedSnapshot {
  readonly head: Head;
  readonly content: readonly number[];
}

/**
 * The change log of a control plane, in the simplest form that can be right: a configuration is a list of numbers, its
 * digest is that list as text, and each change adds one number or replaces the list.
 */
export class SimulatedLog {
  private entries: Entry[] = [];
  private readonly missing = new Set<number>();
  private firstKept = 0;
  private logs = 1;
  private nextNumber = 1;
  private kept: SimulatedSnapshot | null = null;
  /** Everything that was ever published, of this log and of those before. */
  readonly published: (Change & Head)[] = [];
  /** Where the log was after it was restored or set back. */
  private readonly returnedTo: Head[] = [];

  get revision(): number {
    return this.entries.length;
  }

  /** The configuration at a revision, computed anew each time. */
  contentAt(revision: number): readonly number[] {
    let content: readonly number[] = [];
    for (const entry of this.entries.slice(0, revision)) {
      content = 'added' in entry ? [...content, entry.added] : entry.replacedWith;
    }
    return content;
  }

  headAt(revision: number): Head {
    const digest = digestOf(this.contentAt(revision));
    return { lineage: `log ${this.logs}`, revision, digest };
  }

  get head(): Head {
    return this.headAt(this.revision);
  }

  /** Whether this was ever a point of the log, or of one before. */
  hasHad(head: Head): boolean {
    const { revision, digest } = head;
    if (revision === 0) return digest === '';
    return [...this.published, ...this.returnedTo].some(
      (one) => one.lineage === head.lineage && one.revision === revision && one.digest === digest,
    );
  }

  commit(): void {
    this.append({ added: this.nextNumber++ });
  }

  replace(): void {
    this.append({ replacedWith: [this.nextNumber++] });
  }

  prune(): void {
    this.firstKept = this.revision;
  }

  /** Loses the newest change from the log, which must never happen. */
  loseNewest(): void {
    this.missing.add(this.revision);
  }

  /** Sets the database back without a new lineage: the same revisions will be other configurations. */
  setBack(steps: number): void {
    this.cutTo(Math.max(0, this.revision - steps));
    this.returnedTo.push(this.head);
  }

  /** Restores an older backup: the log has a new lineage and begins there. */
  restore(steps: number): void {
    this.cutTo(Math.max(0, this.revision - steps));
    this.logs++;
    this.returnedTo.push(this.head);
    this.prune();
  }

  /** The answer of the feed API: the snapshot that was made last, if it will do, or else a new one. */
  snapshot(atLeast: number): SimulatedSnapshot {
    if (this.kept === null || !this.willDo(this.kept, atLeast)) {
      this.kept = { head: this.head, content: this.contentAt(this.revision) };
    }
    return this.kept;
  }

  /** The answer of the feed API. Null: the log no longer reaches back to the revision. */
  changesAfter(revision: number): ChangesPage | null {
    if (revision < this.firstKept) return null;
    const all = this.entries.map((_entry, at) => this.changeAt(at + 1));
    const changes = all.filter((change) => change.revision > revision).slice(0, PAGE_SIZE);
    return { head: this.head, changes: changes.filter((one) => !this.missing.has(one.revision)) };
  }

  private willDo({ head }: SimulatedSnapshot, atLeast: number): boolean {
    const { revision } = head;
    if (revision > this.revision || revision < this.firstKept) return false;
    const now = this.headAt(revision);
    if (now.lineage !== head.lineage || now.digest !== head.digest) return false;
    return revision >= Math.min(atLeast, this.revision);
  }

  private cutTo(revision: number): void {
    this.entries = this.entries.slice(0, revision);
    this.firstKept = Math.min(this.firstKept, this.revision);
    this.missing.clear();
  }

  private append(entry: Entry): void {
    this.entries = [...this.entries, entry];
    this.missing.delete(this.revision);
    this.published.push({ ...this.headAt(this.revision), ...this.changeAt(this.revision) });
  }

  private changeAt(revision: number): Change {
    const entry = this.entries[revision - 1];
    const { digest } = this.headAt(revision);
    if ('replacedWith' in entry) return { revision, digest, operations: [{ type: 'reload' }] };
    return { revision, digest, operations: [operationOf(entry.added)] };
  }
}

function operationOf(added: number): Operation {
  return { type: 'put', kind: 'blockPage', entity: { id: added, type: 0 } };
}

export function digestOf(content: readonly number[]): string {
  return content.join(' ');
}
