import { effect, type Signal, signal } from '@preact/signals';
import { inStorage } from './storage.js';

/** A choice of the person at this browser, which outlives the tab. */
export function setting<T extends string>(
  name: string,
  choices: readonly T[],
  initial: T,
): Signal<T> {
  const stored = inStorage('localStorage', (storage) => storage.getItem(`weir.${name}`));
  const value = signal(choices.find((one) => one === stored) ?? initial);
  effect(() => {
    const chosen = value.value;
    inStorage('localStorage', (storage) =>
      chosen === initial
        ? storage.removeItem(`weir.${name}`)
        : storage.setItem(`weir.${name}`, chosen),
    );
  });
  return value;
}

export const THEMES = ['system', 'light', 'dark'] as const;

export const theme = setting<(typeof THEMES)[number]>('theme', THEMES, 'system');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});
