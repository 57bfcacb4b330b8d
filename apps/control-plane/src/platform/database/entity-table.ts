import type { Entities, EntityKind } from '@weir/config-model';

/** How the entities of a kind stand in the database. */
export interface EntityTable<K extends EntityKind, Row> {
  readonly kind: K;
  /**
   * Reads every one of them, in the order of the API's listings. bigint columns are cast to float8, which holds ours
   * exactly.
   */
  readonly sql: string;
  toEntity(row: Row): Entities[K];
}
