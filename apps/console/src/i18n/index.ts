import { computed, effect } from '@preact/signals';
import { setting } from '../setting.js';
import { de } from './de.js';
import { en, type Key, type Texts } from './en.js';

export type { Key };

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;
const TEXTS: Readonly<Record<Language, Texts>> = { en, de };

/** How numbers, dates and times are written. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

/** The first language of the browser that the console has. */
function preferred(): Language {
  const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGES);
  return (known ?? 'en') as Language;
}

export const language = setting('language', Object.keys(LANGUAGES) as Language[], preferred());

effect(() => {
  document.documentElement.lang = language.value;
});

/** The text of a key in the language that is chosen. A component that calls it is drawn again when that changes. */
export function t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  return TEXTS[language.value][key].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name]),
  );
}

export const locale = computed(() => LOCALES[language.value]);

const numbers = computed(() => new Intl.NumberFormat(locale.value));
const percentages = computed(
  () => new Intl.NumberFormat(locale.value, { style: 'percent', maximumFractionDigits: 1 }),
);

export const number = (value: number): string => numbers.value.format(value);
/** @param ratio 0 to 1 */
export const percent = (ratio: number): string => percentages.value.format(ratio);
