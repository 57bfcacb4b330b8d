import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from './i18n/index.js';

/** Of a page of a list. */
export const ROWS = 100;

/** Which page of a list is shown. A page begins after the last row of the one before. */
export interface Paging<T> {
  /** Null: from the first row. */
  readonly after: T | null;
  /** Of the page, from 0. */
  readonly index: number;
  readonly next: (after: T) => void;
  readonly previous: () => void;
  readonly first: () => void;
}

export function usePaging<T>(): Paging<T> {
  const [before, setBefore] = useState<readonly T[]>([]);
  return {
    after: before.at(-1) ?? null,
    index: before.length,
    // A second click before the page is there goes no further.
    next: (after) => setBefore((shown) => (shown.at(-1) === after ? shown : [...shown, after])),
    previous: () => setBefore(before.slice(0, -1)),
    first: () => setBefore([]),
  };
}

interface PageButtonsProperties<T> {
  readonly paging: Paging<T>;
  /** After what the next page begins. Null: there is none. */
  readonly next: T | null;
}

export function PageButtons<T>({ paging, next }: PageButtonsProperties<T>): JSX.Element | null {
  if (paging.index === 0 && next === null) return null;
  return (
    <p class="row">
      <button type="button" disabled={paging.index === 0} onClick={paging.previous}>
        {t('common.previous')}
      </button>
      <button
        type="button"
        disabled={next === null}
        onClick={() => next !== null && paging.next(next)}
      >
        {t('common.next')}
      </button>
    </p>
  );
}
