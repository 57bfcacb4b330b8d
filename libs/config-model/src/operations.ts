import type { Entities, EntityKeys, EntityKind } from './entities.js';

/** Creates the entity, or replaces the one with the same key. */
export type PutOperation = {
  [K in EntityKind]: { readonly type: 'put'; readonly kind: K; readonly entity: Entities[K] };
}[EntityKind];

/** Deletes the entity with that key, if there is one. */
export type DeleteOperation = {
  [K in EntityKind]: { readonly type: 'delete'; readonly kind: K; readonly key: EntityKeys[K] };
}[EntityKind];

/** The whole configuration was replaced (`POST /init/`). The new one must be loaded as a snapshot. */
export interface ReloadOperation {
  readonly type: 'reload';
}

export type Operation = PutOperation | DeleteOperation | ReloadOperation;

/** A point in the change log. */
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

/** The newest point of the change log, and which log it is. */
export interface Head extends LogPoint {
  /** A UUID. A restored database has another one, because the same revision may be another configuration there. */
  readonly lineage: string;
}
