import type { JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from './api.js';
import { Button } from './components.js';
import { t } from './i18n/index.js';

export interface Loaded<T> {
  /** Undefined until it is there. While it is loaded again, the former value stays. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/**
 * Loads something when a component appears, when `inputs` change, and on `reload`.
 * @param load undefined: nothing is loaded
 * @param everyMs loads again so long after each answer; undefined: not
 */
export function useLoad<T>(
  load: ((signal: AbortSignal) => Promise<T>) | undefined,
  inputs: readonly unknown[],
  everyMs: (value: T | undefined) => number | undefined = () => undefined,
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ value: undefined, error: null });
  const [count, setCount] = useState(0);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    let latest: T | undefined;
    const run = async (): Promise<void> => {
      if (load === undefined) return setState({ value: undefined, error: null });
      try {
        latest = await load(abort.signal);
        if (!abort.signal.aborted) setState({ value: latest, error: null });
      } catch (error) {
        if (!abort.signal.aborted) setState(({ value }) => ({ value, error }));
      }
      const waitMs = everyMs(latest);
      if (waitMs !== undefined && !abort.signal.aborted)
        timer = window.setTimeout(() => void run(), waitMs);
    };
    void run();
    return () => {
      abort.abort();
      window.clearTimeout(timer);
    };
  }, [...inputs, count]);
  return { ...state, reload };
}

export async function catalogueNames(signal: AbortSignal): Promise<{
  readonly categories: ReadonlyMap<number, string | undefined>;
  readonly applications: ReadonlyMap<number, string | undefined>;
}> {
  const [categories, applications] = await Promise.all([
    dataOf(api.GET('/categories/', { signal })),
    dataOf(api.GET('/app_aware/application/', { signal })),
  ]);
  return {
    categories: new Map(categories.map(({ id, name }) => [id, name])),
    applications: new Map(applications.map(({ id, name }) => [id, name])),
  };
}

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
      <Button isOff={paging.index === 0} onClick={paging.previous}>
        {t('common.previous')}
      </Button>
      <Button isOff={next === null} onClick={() => next !== null && paging.next(next)}>
        {t('common.next')}
      </Button>
    </p>
  );
}

type Grant = Schemas['StoredGrant'];

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/** Until the first of these grants ends. */
function waitMsFor(grants: readonly Grant[]): number {
  const firstEndMs = Math.min(...grants.map(({ until }) => Date.parse(until)));
  return Math.min(Math.max(firstEndMs - Date.now(), MIN_WAIT_MS), MAX_WAIT_MS);
}

/**
 * A page of the grants of a profile that hold, and the first one of the next page. They are loaded again when the first
 * of them ends.
 * @param after the last grant of the page before
 */
export function useGrants(id: number, after: Grant | null): Loaded<Grant[]> {
  const place = after === null ? {} : { after: `${after.until},${after.id}` };
  return useLoad(
    (signal) => {
      const params = { path: { profile_id: id }, query: { ...place, limit: ROWS + 1 } };
      return dataOf(api.GET('/profile/{profile_id}/grants', { params, signal }));
    },
    [id, place.after],
    (grants = []) => waitMsFor(grants),
  );
}

/** One grant, again when it ends. @param id undefined: none is loaded */
export function useGrant(profile: number | undefined, id: number | undefined): Loaded<Grant> {
  return useLoad(
    id === undefined || profile === undefined
      ? undefined
      : (signal) => {
          const params = { path: { profile_id: profile, id } };
          return dataOf(api.GET('/profile/{profile_id}/grants/{id}', { params, signal }));
        },
    [profile, id],
    (grant) => waitMsFor(grant === undefined ? [] : [grant]),
  );
}
