import type { BuiltConfiguration, FollowerTarget, SnapshotPart } from '@weir/change-feed';
import {
  type Change,
  Digest,
  type EntityKind,
  type EntityKeys,
  fromRow,
  type Row,
  toKeyRow,
  toRow,
} from '@weir/config-model';

/** The whole configuration as rows by key, with its digest. */
class Rows {
  readonly rows = new Map<string, Row>();
  readonly digest = new Digest();

  put(kind: EntityKind, row: Row): void {
    const key = fromRow(kind, row) as EntityKeys[typeof kind];
    this.delete(kind, key);
    this.rows.set(this.name(kind, key), row);
    this.digest.add(kind, row);
  }

  /** @throws Error when there is nothing to delete: the control plane never publishes such an operation. */
  remove(kind: EntityKind, key: EntityKeys[EntityKind]): void {
    if (!this.delete(kind, key)) throw new Error(`no ${this.name(kind, key)} to delete`);
  }

  /** @returns the digest afterwards. */
  apply({ operations }: Change): string {
    for (const operation of operations) {
      if (operation.type === 'put') {
        this.put(operation.kind, toRow(operation.kind, operation.entity));
      }
      if (operation.type === 'delete') this.remove(operation.kind, operation.key);
    }
    return this.digest.toString();
  }

  private delete(kind: EntityKind, key: EntityKeys[EntityKind]): boolean {
    const name = this.name(kind, key);
    const row = this.rows.get(name);
    if (row !== undefined) this.digest.remove(kind, row);
    return this.rows.delete(name);
  }

  private name(kind: EntityKind, key: EntityKeys[EntityKind]): string {
    return `${kind} ${toKeyRow(kind, key as never).join(' ')}`;
  }
}

/** A follower that only stores the rows. */
export class RowReplica implements FollowerTarget {
  private stored = new Rows();
  /** Changes wait for this before they are applied. */
  gate: Promise<void> = Promise.resolve();

  async build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration> {
    const built = new Rows();
    let revision = -1;
    for await (const part of parts) {
      if (part.type === 'head') revision = part.revision;
      else for (const row of part.rows) built.put(part.kind, row);
    }
    return {
      revision,
      digest: built.digest.toString(),
      swapIn: () => {
        this.stored = built;
      },
    };
  }

  async apply(change: Change): Promise<string> {
    await this.gate;
    return this.stored.apply(change);
  }

  /** All rows, sorted by key. */
  contents(): Record<string, Row> {
    return Object.fromEntries([...this.stored.rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  digest(): string {
    return this.stored.digest.toString();
  }
}
