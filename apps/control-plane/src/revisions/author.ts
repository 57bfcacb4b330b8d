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

/**
 * Runs some work. The changes that it makes are recorded with this author.
 * @param span of the author's call, if it is traced.
 */
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
