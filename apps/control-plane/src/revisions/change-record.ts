import {
  Digest,
  type EncodedChange,
  type EncodedOperation,
  type Entities,
  type EntityKind,
  type Head,
  KEY_LENGTHS,
  type Profile,
  type Row,
  toRow,
} from '@weir/config-model';
import type { Span } from '@weir/telemetry';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangeTrace } from './propagation.js';

/** A call of the management API. */
export interface Call {
  readonly origin: 'api';
  /** Name of its token. */
  readonly token: string;
  /** Address that it came from; null: not a valid one. */
  readonly source: string | null;
  readonly requestId: string;
  readonly method: string;
  /** Pattern of the path, which has no key and no domain. */
  readonly route: string;
}

/** Who makes a change: a call, or Weir itself. */
export type Author = Call | { readonly origin: 'catalogue' | 'repair' | 'expiry' };

const storage = new AsyncLocalStorage<{ readonly author: Author; readonly span: Span | null }>();

/** Runs some work. Its changes are recorded with this author. @param span of the author's call, if it is traced. */
export function actAs<T>(author: Author, work: () => T, span: Span | null = null): T {
  return storage.run({ author, span }, work);
}

/** @throws Error when nobody is named: there must be no change without a complete record. */
export function currentAuthor(): Author {
  const author = storage.getStore()?.author;
  if (author === undefined) throw new Error('a change needs an author');
  return author;
}

/** The span of the call that makes a change; null: it is not traced. */
export function currentSpan(): Span | null {
  return storage.getStore()?.span ?? null;
}

/** What a change did inside its transaction. */
export interface WorkResult<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
  /** What it changed beside the configuration, in the form of its record. */
  readonly besides?: readonly (readonly ['put', 'catalogueSource', readonly [string]])[];
}

/** One entity before and after a change; null: there is none. A changed key deletes one entity and adds another. */
export type EntityChange = {
  [K in EntityKind]: {
    readonly kind: K;
    readonly before: Entities[K] | null;
    readonly after: Entities[K] | null;
    /** The keys by which people know it, where those of the entity are others. */
    readonly keys?: { readonly before: Row | null; readonly after: Row | null };
  };
}[EntityKind];

/**
 * What the log stores of changes of entities: what followers apply, and the digest of the whole configuration
 * afterwards. All deletions come first, so that entities may exchange their keys.
 * @param digest of the whole configuration before the changes.
 */
export function encodeEntityChanges(
  digest: string,
  changes: readonly EntityChange[],
): { readonly operations: readonly EncodedOperation[]; readonly digest: string } {
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

/**
 * The keys by which people know what was changed. Undefined: those of the operations. They differ for networks, whose
 * record keeps its host bits (decisions §3).
 */
export function submittedKeys(changes: readonly EntityChange[]): EncodedOperation[] | undefined {
  if (changes.every(({ keys }) => keys === undefined)) return undefined;
  return changes.flatMap(({ kind, keys = null }): EncodedOperation[] => {
    if (keys === null) throw new Error(`a ${kind} is changed together with networks`);
    const { before, after } = keys;
    const isMoved = before !== null && (after === null || !sameKey(kind, before, after));
    return [
      ...(isMoved ? [['delete', kind, before] as const] : []),
      ...(after === null ? [] : [['put', kind, after] as const]),
    ];
  });
}

/** A row begins with its key. */
function sameKey(kind: EntityKind, a: Row, b: Row): boolean {
  for (let i = 0; i < KEY_LENGTHS[kind]; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Most keys in one record: a change may have millions. */
export const MAX_RECORDED = 100;

/** Stands for every profile among the ids of those that a change concerns. */
export const EVERY_PROFILE = -1;

/** Who makes a change, and its trace. */
export interface ChangeOrigin {
  readonly author: Author;
  readonly trace: ChangeTrace | null;
}

/** A change that has been made: what is logged and recorded. It is final only when its transaction is committed. */
export interface MadeChange<T = unknown> extends ChangeOrigin {
  readonly result: T;
  readonly change: EncodedChange & Head;
  /** The ids of those that it concerns. */
  readonly profiles: readonly number[];
  /** The operations whose keys are recorded, if others. Their rows need no more than a key. */
  readonly keys?: readonly EncodedOperation[] | undefined;
  /** As of `WorkResult`. */
  readonly besides?: readonly (readonly unknown[])[];
}

/** The change that has done this work on top of the head. */
export function changed<T>(
  { lineage, revision: before, digest: digestBefore }: Head,
  { result, changes, besides = [] }: WorkResult<T>,
  { author, trace }: ChangeOrigin,
): MadeChange<T> {
  const { operations, digest } = encodeEntityChanges(digestBefore, changes);
  const change = { lineage, revision: before + 1, digest, operations };
  const profiles = concernedProfiles(changes);
  const keys = submittedKeys(changes);
  return { result, change, profiles, keys, besides, author, trace };
}

/** A row of `change_record`, without its time. Columns that are missing are null. */
export function toRecord({
  change: { revision, operations },
  author,
  profiles,
  keys = operations,
  besides = [],
}: MadeChange): Readonly<Record<string, unknown>> {
  const call = author.origin === 'api' ? author : null;
  return {
    revision,
    origin: author.origin,
    ...(call && {
      token: call.token,
      source: call.source,
      request_id: call.requestId,
      method: call.method,
      route: call.route,
    }),
    keys: [...keys.slice(0, MAX_RECORDED).map(withoutValues), ...besides],
    key_count: keys.length + besides.length,
    profile_ids: profiles,
  };
}

/** A row begins with its key. */
function withoutValues(operation: EncodedOperation): unknown {
  const [type, kind, row] = operation;
  return type === 'reload' ? operation : [type, kind, row.slice(0, KEY_LENGTHS[kind])];
}

/** The profiles that the entities belonged to before the change, or belong to after it. */
export function concernedProfiles(changes: readonly EntityChange[]): readonly number[] {
  const ids = new Set<number>();
  for (const { kind, before, after } of changes) {
    for (const entity of [before, after]) {
      if (entity === null) continue;
      if (kind === 'profile') ids.add((entity as Profile).id);
      else if ('profileId' in entity) ids.add(entity.profileId);
    }
  }
  return [...ids];
}
