import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Texts, TEXTS } from './index.js';

/** Every text of a language. */
function allTexts(texts: Texts): string[] {
  const flatten = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    return Object.values(value as object).flatMap(flatten);
  };
  return flatten(texts);
}

describe.each(LANGUAGES)('the texts in %s', (language) => {
  const texts = TEXTS[language];

  it('are complete, without markup, and different from English', () => {
    const english = allTexts(TEXTS.en);
    const all = allTexts(texts);
    expect(all).toHaveLength(english.length);
    for (const text of all) expect(text).toMatch(/^[^<>&{}]+$/);
    const same = all.filter((text) => english.includes(text));
    // The direction is the same word in most.
    if (language !== 'en') expect(same.filter((text) => text !== 'ltr')).toEqual([]);
  });
});
