import type { Entities, EntityKind } from '@weir/config-model';

/** How the entities of a kind are stored. */
export interface EntityTable<K extends EntityKind, Row = Entities[K]> {
  readonly kind: K;
  /**
   * Reads all of them, in the order of the API's listings. Columns have the names of the entity's fields where a row is
   * one; bigint columns are cast to float8, which is exact for our values.
   */
  readonly sql: string;
  toEntity(row: Row): Entities[K];
}
