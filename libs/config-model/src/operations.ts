import type { Entities, EntityKeys, EntityKind } from './entities.js';

/** The entity is as given from now on, whether or not one with its key existed. */
export type PutOperation = {
  [K in EntityKind]: { readonly type: 'put'; readonly kind: K; readonly entity: Entities[K] };
}[EntityKind];

/** No entity with that key exists from now on. */
export type DeleteOperation = {
  [K in EntityKind]: { readonly type: 'delete'; readonly kind: K; readonly key: EntityKeys[K] };
}[EntityKind];

/** The whole configuration was replaced (`POST /init/`): only a snapshot tells the new one. */
export interface ReloadOperation {
  readonly type: 'reload';
}

export type Operation = PutOperation | DeleteOperation | ReloadOperation;

/** A point in the log of changes. */
export interface LogPoint {
  /** Number of the change in the one gapless sequence, from 1 (decisions §6); 0: before the first. */
  readonly revision: number;
  /** Digest of the whole configuration after the change: 16 hex digits, see `Digest`. */
  readonly digest: string;
}

/** One committed change: all operations of one API call, applied as one step. */
export interface Change extends LogPoint {
  readonly operations: readonly Operation[];
}

/** Where the log stands, and which log it is. */
export interface Head extends LogPoint {
  /**
   * A UUID. A database that was restored has another one: there the same revision may be another configuration. Null:
   * said by a release that knows none.
   */
  readonly lineage: string | null;
}
