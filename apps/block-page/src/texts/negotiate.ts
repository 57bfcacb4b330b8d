import Negotiator from 'negotiator';
import { type Language, LANGUAGES } from './texts.js';

/** Longer than any browser sends; a longer one counts as absent. */
const LONGEST_HEADER = 1000;

/**
 * The language of `LANGUAGES` that a visitor prefers (RFC 9110 §12.5.4).
 * @param acceptLanguage value of the header, as it came
 * @param fallback for a visitor who names none of them
 */
export function negotiateLanguage(
  acceptLanguage: string | undefined,
  fallback: Language,
): Language {
  if (acceptLanguage === undefined || acceptLanguage.length > LONGEST_HEADER) return fallback;
  // Of a language range with `*` the first of the list is taken.
  const available = [fallback, ...LANGUAGES.filter((language) => language !== fallback)];
  const headers = { 'accept-language': acceptLanguage };
  return (new Negotiator({ headers }).language(available) as Language | undefined) ?? fallback;
}
