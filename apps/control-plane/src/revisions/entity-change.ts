import {
  type DeleteOperation,
  Digest,
  type Entities,
  type EntityKind,
  type Operation,
  type PutOperation,
  toKeyRow,
  toRow,
} from '@weir/config-model';

/**
 * One entity before and after a change; null where it does not exist. A changed key deletes one entity and adds
 * another.
 */
export type EntityChange = {
  [K in EntityKind]: {
    readonly kind: K;
    readonly before: Entities[K] | null;
    readonly after: Entities[K] | null;
  };
}[EntityKind];

/** The operations that followers apply. All deletions come first, so that entities may exchange their keys. */
export function operationsOf(changes: readonly EntityChange[]): Operation[] {
  const deletions: DeleteOperation[] = [];
  const puts: PutOperation[] = [];
  for (const { kind, before, after } of changes) {
    if (before !== null && (after === null || !sameKey(kind, before, after))) {
      deletions.push({ type: 'delete', kind, key: before } as DeleteOperation);
    }
    if (after !== null) puts.push({ type: 'put', kind, entity: after } as PutOperation);
  }
  return [...deletions, ...puts];
}

/** The digest of the whole configuration after the changes, from the one before. */
export function digestAfter(digest: string, changes: readonly EntityChange[]): string {
  const result = Digest.parse(digest);
  for (const { kind, before, after } of changes) {
    if (before !== null) result.remove(kind, toRow(kind, before));
    if (after !== null) result.add(kind, toRow(kind, after));
  }
  return result.toString();
}

function sameKey<K extends EntityKind>(kind: K, a: Entities[K], b: Entities[K]): boolean {
  return JSON.stringify(toKeyRow(kind, a)) === JSON.stringify(toKeyRow(kind, b));
}
