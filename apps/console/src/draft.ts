import { effect } from '@preact/signals';
import { useState } from 'preact/hooks';
import { place } from './router.js';

/** What was entered on the page and not sent, by the name of the field. */
const drafts = new Map<string, unknown>();

export function forgetDrafts(): void {
  drafts.clear();
}

export function forgetDraft(name: string): void {
  drafts.delete(name);
}

// They belong to the address at which they were entered.
effect(() => {
  void place.value;
  forgetDrafts();
});

/**
 * `useState` for what somebody enters. It outlives the page while the token has ended and another one is asked for, and
 * is forgotten when the person goes to another address or signs out.
 * @param name distinct on the page
 */
export function useDraft<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(drafts.has(name) ? (drafts.get(name) as T) : initial);
  return [
    value,
    (next) => {
      drafts.set(name, next);
      setValue(() => next);
    },
  ];
}
