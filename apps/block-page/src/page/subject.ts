import type { Policy } from '@weir/policy';
import { domainToUnicode } from 'node:url';
import { type Language, type Texts, TEXTS } from '../texts/index.js';

/** Why a name is blocked (decisions §7, §14, §15). */
export type BlockReason =
  /** An order. Without texts: a secret list, of which nothing else may be said. */
  | { readonly code: 'order'; readonly texts: OrderTexts | undefined }
  /** A category that is blocked for everybody, by law or because the provider says so. */
  | {
      readonly code: 'mandatory';
      readonly name: string | undefined;
      readonly isByLaw: boolean;
    }
  | { readonly code: 'grant' }
  /** @param name in the catalogue; undefined: it has none */
  | { readonly code: 'category'; readonly name: string | undefined }
  | { readonly code: 'application'; readonly name: string | undefined }
  | { readonly code: 'list' }
  | { readonly code: 'allow_list_only' };

/** Who has ordered a block, and how that authority refers to it. */
export type OrderTexts = ReturnType<Policy['orders']['textsOf']>;

/** The next switch of the weekly schedule of the subscriber's profile. */
export interface NextSwitch {
  readonly atMs: number;
  /** Whether now is inside a period. */
  readonly isInPeriod: boolean;
}

/** What a page tells its visitor. Names are normalised domains. */
export type PageSubject =
  | {
      readonly kind: 'blocked';
      /** Undefined: the page must not repeat it. */
      readonly name: string | undefined;
      readonly reason: BlockReason;
      /** The CNAME target that is blocked, when the name itself is not. */
      readonly target: string | undefined;
      readonly nextSwitch: NextSwitch | undefined;
      /** Block page of the active profile; −1: the default page. */
      readonly pageId: number;
      /** Tells support what happened. Undefined: there is none. */
      readonly incident: string | undefined;
    }
  | { readonly kind: 'not_blocked'; readonly name: string }
  /** The request has no name: somebody opened the address itself. */
  | { readonly kind: 'no_name' }
  /** There is no configuration yet. */
  | { readonly kind: 'not_ready' };

export type BlockedSubject = Extract<PageSubject, { kind: 'blocked' }>;

export function isByLaw(reason: BlockReason): boolean {
  return reason.code === 'order' || (reason.code === 'mandatory' && reason.isByLaw);
}

/** Whether the name is blocked for everybody, whatever the settings of the visitor are. */
export function isForEverybody({ code }: BlockReason): boolean {
  return code === 'order' || code === 'mandatory';
}

const STATUS: Readonly<Record<PageSubject['kind'], number>> = {
  blocked: 403,
  not_blocked: 404,
  no_name: 404,
  not_ready: 503,
};

/** The HTTP status that goes with a page: 451 for a block by law (RFC 7725). */
export function statusOf(subject: PageSubject): number {
  return subject.kind === 'blocked' && isByLaw(subject.reason) ? 451 : STATUS[subject.kind];
}

/** First strong isolate and pop directional isolate (UAX #9): what is between them does not turn the text around it. */
const [ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/** The phrases of a page in one language, as plain text. */
export class Wording {
  readonly texts: Texts;
  private readonly time: Intl.DateTimeFormat;

  /** @param timeZone zone of the schedules */
  constructor(
    readonly language: Language,
    timeZone: string,
  ) {
    this.texts = TEXTS[language];
    this.time = new Intl.DateTimeFormat(language, {
      timeZone,
      weekday: 'long',
      hour: '2-digit',
      minute: '2-digit',
      // 24-hour clock: visitors of every country understand 20:00.
      hourCycle: 'h23',
    });
  }

  reason(reason: BlockReason): string {
    const { texts } = this;
    switch (reason.code) {
      case 'order':
        return texts.blockedByLawTitle;
      case 'grant':
        return texts.reasonGrant;
      case 'mandatory':
      case 'category':
        return this.about(texts.reasonCategory, reason.name);
      case 'application':
        return this.about(texts.reasonApplication, reason.name);
      case 'list':
        return texts.reasonList;
      case 'allow_list_only':
        return texts.reasonAllowListOnly;
    }
  }

  schedule({ atMs, isInPeriod }: NextSwitch): string {
    const { scheduleUntil, scheduleFrom } = this.texts;
    return this.about(isInPeriod ? scheduleUntil : scheduleFrom, this.timeOf(atMs));
  }

  /** Weekday and time of day on the wall clock of the schedules. */
  timeOf(atMs: number): string {
    return this.time.format(atMs);
  }

  private about(phrase: string, what: string | undefined): string {
    if (what === undefined) return phrase;
    // In French a space comes before the colon.
    const colon = this.language === 'fr' ? ' : ' : ': ';
    return phrase + colon + ISOLATE + what + POP_ISOLATE;
  }
}

/**
 * The name with U-labels (RFC 5890 §2.3.2.1), followed by the name with A-labels, because letters of different
 * scripts may look the same.
 */
export function displayName(name: string): string {
  if (!/(?:^|\.)xn--/.test(name)) return name;
  const unicode = domainToUnicode(name);
  return unicode === '' || unicode === name ? name : `${unicode} (${name})`;
}
