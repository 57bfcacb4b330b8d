/** Null where the browser keeps nothing for this site: its settings may forbid that, and then each access fails. */
export function inStorage<T>(
  kind: 'localStorage' | 'sessionStorage',
  use: (storage: Storage) => T,
): T | null {
  try {
    return use(window[kind]);
  } catch {
    return null;
  }
}
