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
export type Author = Call | { readonly origin: 'catalogue' | 'repair' };

const storage = new AsyncLocalStorage<Author>();

/** Runs some work. The changes that it makes are recorded with this author. */
export function actAs<T>(author: Author, work: () => T): T {
  return storage.run(author, work);
}

/** @throws Error when nobody is named: there must be no change without a complete record. */
export function currentAuthor(): Author {
  const author = storage.getStore();
  if (author === undefined) throw new Error('a change needs an author');
  return author;
}
