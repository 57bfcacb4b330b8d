/** Languages of the built-in page (ISO 639-1). English is written first and stands in for none of the others. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'pl', 'ru', 'tr', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A headline and what follows it. */
export interface Message {
  readonly title: string;
  readonly text: string;
}

/**
 * What the built-in page says in one language. Plain text: the page escapes it. Parameters are already isolated
 * from the direction of the text around them.
 */
export interface Texts {
  readonly direction: 'ltr' | 'rtl';
  readonly blocked: Message;
  readonly notBlocked: Message;
  readonly noName: Message;
  readonly notReady: Message;
  readonly reasonLabel: string;
  readonly reason: {
    /** @param name undefined: the catalogue has no name for it. */
    readonly category: (name: string | undefined) => string;
    readonly application: (name: string | undefined) => string;
    readonly list: string;
    readonly allowListOnly: string;
  };
  /** Label of the name that a permitted name leads to and that is blocked. */
  readonly leadsToLabel: string;
  readonly scheduleLabel: string;
  /** A period of the schedule has begun. @param time weekday and time of day, as a phrase of its own */
  readonly scheduleUntil: (time: string) => string;
  /** The next period has not begun. */
  readonly scheduleFrom: (time: string) => string;
  readonly advice: string;
  readonly tryAgain: string;
  readonly helpLabel: string;
  readonly privacy: string;
}
