import {
  type Change,
  Digest,
  encodeChange,
  type EncodedOperation,
  type Entities,
  type EntityKind,
  type Head,
  KEY_LENGTHS,
  type Profile,
  type Row,
  toRow,
} from '@weir/config-model';
import type { PublishedChange } from '@weir/change-feed';
import type { Span } from '@weir/telemetry';
import { AsyncLocalStorage } from 'node:async_hooks';

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

/** The spans of a change in that of its call: its wait in the queue, transaction, publishing, acknowledgements. */
export class ChangeTrace {
  /** The wait or the transaction. Null: the change is made, or cannot be made. */
  private step: Span | null;

  private constructor(private readonly call: Span) {
    this.step = call.begin('change.queue');
  }

  /** @param call null: it is not traced. */
  static begin(call: Span | null): ChangeTrace | null {
    return call && new ChangeTrace(call);
  }

  /** Its wait is over. @param first traced change of the same transaction before this one, if any. */
  beginTransaction(first: ChangeTrace | null): void {
    this.step?.end();
    this.step = this.call.begin('change.transaction', { sharedWith: first?.step ?? null });
  }

  /** @param changes how many were in the transaction. */
  endTransaction(changes: number): void {
    this.step?.end({ attributes: { 'weir.transaction.changes': changes } });
    this.step = null;
  }

  /** The wait or the transaction has failed. */
  fail(): void {
    this.step?.end({ hasFailed: true });
    this.step = null;
  }

  /** Begins to publish the change. */
  beginPublishing(revision: number): Span {
    const attributes = { 'weir.revision': revision };
    return this.call.begin('change.publish', { kind: 'producer', attributes });
  }

  beginAcknowledgements(): Span {
    return this.call.begin('change.acknowledgements');
  }
}

/** Who makes a change, and its trace; null: it is not traced. */
export interface ChangeOrigin {
  readonly author: Author;
  readonly trace: ChangeTrace | null;
}

/** Of a change that begins to wait. @throws Error without an author: each change needs a complete record. */
export function currentOrigin(): ChangeOrigin {
  const current = storage.getStore();
  if (current === undefined) throw new Error('a change needs an author');
  return { author: current.author, trace: ChangeTrace.begin(current.span) };
}

/** What a record names as changed. Rows need no more than a key. A list of the catalogue is no part of the log. */
export type RecordedKey = EncodedOperation | readonly ['put', 'catalogueSource', readonly [string]];

/** What a change did inside its transaction. */
export interface WorkResult<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
  /** What the record names, where that is not the operations. */
  readonly keys?: readonly RecordedKey[];
}

/** One entity before and after a change; null: there is none. A changed key deletes one entity and adds another. */
export type EntityChange = {
  [K in EntityKind]: {
    readonly kind: K;
    readonly before: Entities[K] | null;
    readonly after: Entities[K] | null;
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

/** A row begins with its key. */
function sameKey(kind: EntityKind, a: Row, b: Row): boolean {
  for (let i = 0; i < KEY_LENGTHS[kind]; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Most keys in one record: a change may have millions. */
export const MAX_RECORDED = 100;

/** Stands for every profile among the ids of those that a change concerns. */
export const EVERY_PROFILE = -1;

/** A change that has been made: what is logged and recorded. It is final only when its transaction is committed. */
export interface MadeChange<T = unknown> extends ChangeOrigin {
  readonly result: T;
  readonly change: PublishedChange;
  /** The ids of those that it concerns. */
  readonly profiles: readonly number[];
  /** As of `WorkResult`. */
  readonly keys?: readonly RecordedKey[] | undefined;
}

/** The change that has done this work on top of the head. */
export function changed<T>(
  { lineage, revision: before, digest: digestBefore }: Head,
  { result, changes, keys }: WorkResult<T>,
  { author, trace }: ChangeOrigin,
): MadeChange<T> {
  const { operations, digest } = encodeEntityChanges(digestBefore, changes);
  const change = { lineage, revision: before + 1, digest, operations };
  return { result, change, profiles: concernedProfiles(changes), keys, author, trace };
}

/** The change that replaces the whole configuration. */
export function replaced(
  { lineage, revision: before }: Head,
  { digest, operations }: Omit<Change, 'revision'>,
  origin: ChangeOrigin,
  keys?: readonly RecordedKey[],
): MadeChange<undefined> {
  const change = { lineage, ...encodeChange({ revision: before + 1, digest, operations }) };
  return { result: undefined, change, profiles: [EVERY_PROFILE], keys, ...origin };
}

/** A row of `change_record`, without its time. Columns that are missing are null. */
export function toRecord({
  change: { revision, operations },
  author,
  profiles,
  keys = operations,
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
    keys: keys.slice(0, MAX_RECORDED).map(withoutValues),
    key_count: keys.length,
    profile_ids: profiles,
  };
}

/** A row begins with its key. */
function withoutValues(key: RecordedKey): unknown {
  const [type, kind, row] = key;
  if (type === 'reload' || kind === 'catalogueSource') return key;
  return [type, kind, row.slice(0, KEY_LENGTHS[kind])];
}

/** The profiles that the entities belonged to before the change, or belong to after it. */
function concernedProfiles(changes: readonly EntityChange[]): readonly number[] {
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
