import Negotiator from 'negotiator';
import { type Language, LANGUAGES } from './texts.js';

/** Longer than any browser sends. A longer header is ignored. */
const MAX_HEADER_LENGTH = 1000;

/**
 * The language of `LANGUAGES` that a visitor prefers (RFC 9110 §12.5.4).
 * @param acceptLanguage value of the header
 * @param fallback used if the visitor accepts none of them
 */
export function negotiateLanguage(
  acceptLanguage: string | undefined,
  fallback: Language,
): Language {
  if (acceptLanguage === undefined || acceptLanguage.length > MAX_HEADER_LENGTH) return fallback;
  // `*` selects the first language of the list.
  const available = [fallback, ...LANGUAGES.filter((language) => language !== fallback)];
  const headers = { 'accept-language': acceptLanguage };
  return (new Negotiator({ headers }).language(available) as Language | undefined) ?? fallback;
}
