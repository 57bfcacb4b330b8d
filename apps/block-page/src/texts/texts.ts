import Negotiator from 'negotiator';

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

/** Languages of the built-in page (ISO 639-1). English is not a fallback for missing texts of the others. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'pl', 'ru', 'tr', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * What a page says first: a headline, and a text below it. For `blockedByLaw` and `blockedForEverybody` the settings of
 * the visitor make no difference.
 */
export type Message =
  | 'blocked'
  | 'blockedByLaw'
  | 'blockedForEverybody'
  | 'notBlocked'
  | 'noName'
  | 'notReady';

/** The texts of the built-in page in one language. They are plain text: the page escapes them. */
export interface Texts extends Readonly<Record<`${Message}${'Title' | 'Text'}`, string>> {
  readonly direction: 'ltr' | 'rtl';
  readonly reasonLabel: string;
  /** A colon and the name of the category or application follow, if the catalogue has one. */
  readonly reasonCategory: string;
  readonly reasonApplication: string;
  readonly reasonList: string;
  /** A block that ends by itself. */
  readonly reasonGrant: string;
  readonly reasonAllowListOnly: string;
  /** Label of who has ordered a block, and of how that authority refers to it. */
  readonly authorityLabel: string;
  readonly referenceLabel: string;
  /** Label of a blocked CNAME target. */
  readonly leadsToLabel: string;
  readonly scheduleLabel: string;
  /** A period of the schedule has begun. A colon, weekday and time of day follow. */
  readonly scheduleUntil: string;
  /** The next period has not begun. */
  readonly scheduleFrom: string;
  readonly incidentLabel: string;
  readonly incidentHint: string;
  readonly advice: string;
  readonly tryAgain: string;
  readonly helpLabel: string;
  readonly privacy: string;
}
