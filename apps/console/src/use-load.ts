import { useCallback, useEffect, useState } from 'preact/hooks';
import { api, dataOf } from './api.js';

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

/** The names of the catalogue, by id. */
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
