import {
  Digest,
  type EncodedOperation,
  type Entities,
  type EntityKind,
  KEY_LENGTHS,
  type Row,
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

/** What the changes of entities come to. */
export interface EncodedEntityChanges {
  /** What followers apply. All deletions come first, so that entities may exchange their keys. */
  readonly operations: readonly EncodedOperation[];
  /** The digest of the whole configuration afterwards. */
  readonly digest: string;
}

/** @param digest of the whole configuration before the changes. */
export function encodeEntityChanges(
  digest: string,
  changes: readonly EntityChange[],
): EncodedEntityChanges {
  const after = Digest.parse(digest);
  const deletions: EncodedOperation[] = [];
  const puts: EncodedOperation[] = [];
  for (const { kind, before, after: entity } of changes) {
    const [old, row] = [before && toRow(kind, before), entity && toRow(kind, entity)];
    if (old !== null) {
      after.remove(kind, old);
      if (row === null || !sameKey(kind, old, row)) {
        deletions.push(['delete', kind, old.slice(0, KEY_LENGTHS[kind])]);
      }
    }
    if (row !== null) {
      after.add(kind, row);
      puts.push(['put', kind, row]);
    }
  }
  return { operations: deletions.concat(puts), digest: after.toString() };
}

/** A row begins with its key. */
function sameKey(kind: EntityKind, a: Row, b: Row): boolean {
  for (let i = 0; i < KEY_LENGTHS[kind]; i++) if (a[i] !== b[i]) return false;
  return true;
}
