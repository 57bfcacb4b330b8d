import { domainToUnicode } from 'node:url';
import { type Language, type Texts, TEXTS } from '../texts/index.js';
import type { BlockReason, NextSwitch } from './subject.js';

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
    const { reason: texts } = this.texts;
    switch (reason.code) {
      case 'order':
        return this.texts.blockedByLaw.title;
      case 'grant':
        return texts.grant;
      case 'mandatory':
      case 'category':
        return texts.category(isolate(reason.name));
      case 'application':
        return texts.application(isolate(reason.name));
      case 'list':
        return texts.list;
      case 'allow_list_only':
        return texts.allowListOnly;
    }
  }

  schedule({ atMs, isInPeriod }: NextSwitch): string {
    const time = isolate(this.timeOf(atMs));
    return isInPeriod ? this.texts.scheduleUntil(time) : this.texts.scheduleFrom(time);
  }

  /** Weekday and time of day on the wall clock of the schedules. */
  timeOf(atMs: number): string {
    return this.time.format(atMs);
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

function isolate(text: string): string;
function isolate(text: string | undefined): string | undefined;
function isolate(text: string | undefined): string | undefined {
  return text === undefined ? undefined : ISOLATE + text + POP_ISOLATE;
}
