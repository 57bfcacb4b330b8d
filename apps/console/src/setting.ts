import { effect, type Signal, signal } from '@preact/signals';

/** A choice of the person at this browser, which outlives the tab. */
export function setting<T extends string>(
  name: string,
  choices: readonly T[],
  initial: T,
): Signal<T> {
  const stored = localStorage.getItem(`weir.${name}`);
  const value = signal(choices.find((one) => one === stored) ?? initial);
  effect(() => {
    if (value.value === initial) localStorage.removeItem(`weir.${name}`);
    else localStorage.setItem(`weir.${name}`, value.value);
  });
  return value;
}

export const THEMES = ['system', 'light', 'dark'] as const;

export const theme = setting<(typeof THEMES)[number]>('theme', THEMES, 'system');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});
