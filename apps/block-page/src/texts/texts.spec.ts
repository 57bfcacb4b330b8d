import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Texts, TEXTS } from './index.js';

/** Every text of a language; functions are called with a value that must appear. */
function allTexts(texts: Texts): string[] {
  const flatten = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'function') return [(value as (text: string) => string)('VALUE')];
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

  it('contain their parameters', () => {
    const { reason, scheduleFrom, scheduleUntil } = texts;
    for (const say of [reason.category, reason.application, scheduleFrom, scheduleUntil]) {
      expect(say('VALUE')).toContain('VALUE');
    }
    expect(reason.category(undefined)).not.toContain('undefined');
    expect(reason.application(undefined)).not.toContain('undefined');
  });
});
