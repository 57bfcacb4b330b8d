import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Texts, TEXTS } from './index.js';

const allTexts = (texts: Texts): string[] => Object.values<string>({ ...texts });

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
