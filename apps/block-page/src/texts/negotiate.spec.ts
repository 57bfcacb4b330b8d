import { describe, expect, it } from 'vitest';
import { negotiateLanguage } from './texts.js';

describe('negotiateLanguage', () => {
  it.each([
    ['de', 'de'],
    ['de-CH', 'de'],
    ['pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
    ['nl, fr;q=0.4, es;q=0.6', 'es'],
    ['en;q=0, tr', 'tr'],
    ['*', 'ru'],
    ['nl-NL', 'ru'],
    ['', 'ru'],
    ['<script>', 'ru'],
    [undefined, 'ru'],
    [`de,${'x'.repeat(2000)}`, 'ru'],
  ])('of %j takes %s', (header, language) => {
    expect(negotiateLanguage(header, 'ru')).toBe(language);
  });
});
