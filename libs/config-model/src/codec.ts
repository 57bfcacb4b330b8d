import { ENTITY_KINDS, type Entities, type EntityKeys, type EntityKind } from './entities.js';
import { fromKeyRow, fromRow, type Row, RowError, toKeyRow, toRow } from './rows.js';

/** Creates the entity, or replaces the one with the same key. */
export type PutOperation = {
  [K in EntityKind]: { readonly type: 'put'; readonly kind: K; readonly entity: Entities[K] };
}[EntityKind];

/** Deletes the entity with that key, if there is one. */
export type DeleteOperation = {
  [K in EntityKind]: { readonly type: 'delete'; readonly kind: K; readonly key: EntityKeys[K] };
}[EntityKind];

/** The whole configuration was replaced (`POST /init/`). The new one must be loaded as a snapshot. */
interface ReloadOperation {
  readonly type: 'reload';
}

export type Operation = PutOperation | DeleteOperation | ReloadOperation;

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

/** A UUID as PostgreSQL prints it. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An operation as JSON, in the change log, the feed and on disk. The row of `delete` is a key row. */
export type EncodedOperation =
  | readonly ['put', EntityKind, Row]
  | readonly ['delete', EntityKind, Row]
  | readonly ['reload'];

export interface EncodedChange extends LogPoint {
  readonly operations: readonly EncodedOperation[];
}

export function encodeOperation(operation: Operation): EncodedOperation {
  switch (operation.type) {
    case 'put':
      return ['put', operation.kind, toRow(operation.kind, operation.entity)];
    case 'delete':
      return ['delete', operation.kind, toKeyRow(operation.kind, operation.key)];
    case 'reload':
      return ['reload'];
  }
}

/** @throws RowError when `value` is not an encoded operation. */
export function decodeOperation(value: unknown): Operation {
  if (!Array.isArray(value)) throw new RowError('an operation is an array');
  const [type, kind, row] = value as unknown[];
  if (type === 'reload' && value.length === 1) return { type: 'reload' };
  if (value.length !== 3 || !isEntityKind(kind)) throw new RowError('unknown operation');
  if (type === 'put') return { type, kind, entity: fromRow(kind, row) } as PutOperation;
  if (type === 'delete') return { type, kind, key: fromKeyRow(kind, row) } as DeleteOperation;
  throw new RowError('unknown operation');
}

export function encodeChange({ revision, digest, operations }: Change): EncodedChange {
  return { revision, digest, operations: operations.map(encodeOperation) };
}

/** @throws RowError when `value` is not an encoded change. */
export function decodeChange(value: unknown): Change {
  const point = decodeLogPoint(value);
  const { operations } = value as { operations?: unknown };
  if (!Array.isArray(operations)) throw new RowError('a change has an array of operations');
  return { ...point, operations: operations.map(decodeOperation) };
}

/** @throws RowError when `value` has no revision, digest or lineage in its range. */
export function decodeHead(value: unknown): Head {
  const point = decodeLogPoint(value);
  const { lineage } = value as Record<string, unknown>;
  if (typeof lineage !== 'string' || !UUID.test(lineage)) throw new RowError('a lineage is a UUID');
  return { lineage, ...point };
}

/** @throws RowError when `value` has no revision or digest in its range. */
function decodeLogPoint(value: unknown): LogPoint {
  if (typeof value !== 'object' || value === null) throw new RowError('a point is an object');
  const { revision, digest } = value as Record<string, unknown>;
  if (!Number.isSafeInteger(revision) || (revision as number) < 0) {
    throw new RowError('a revision is an integer from 0');
  }
  if (typeof digest !== 'string' || !/^[0-9a-f]{16}$/.test(digest)) {
    throw new RowError('a digest is 16 hex digits');
  }
  return { revision: revision as number, digest };
}

export function isEntityKind(value: unknown): value is EntityKind {
  return ENTITY_KINDS.includes(value as EntityKind);
}
