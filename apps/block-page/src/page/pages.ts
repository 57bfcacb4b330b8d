import type { OutgoingHttpHeaders } from 'node:http';
import type { Brand } from '../brand/brand.js';
import { CUSTOM_PAGE_POLICY, pageHeaders } from '../html/security-headers.js';
import type { PlaceholderValues, Template } from '../content/template.js';
import { type Language, LANGUAGES } from '../texts/index.js';
import { BuiltInPage } from './built-in-page.js';
import { type BlockedSubject, displayName, type PageSubject, Wording } from './subject.js';

/** Path of the files of custom pages, before the page id. */
export const ASSETS_PATH = '/__assets/';

export interface RenderedPage {
  readonly page: 'built_in' | 'custom';
  readonly headers: OutgoingHttpHeaders;
  readonly html: string;
}

export class Pages {
  private readonly wordings: ReadonlyMap<Language, Wording>;

  private readonly builtIn: BuiltInPage;

  /** @param timeZone of the schedules */
  constructor(brand: Brand, timeZone: string) {
    this.builtIn = new BuiltInPage(brand);
    this.wordings = new Map(
      LANGUAGES.map((language) => [language, new Wording(language, timeZone)]),
    );
  }

  /** @param template the custom page; null: use the built-in page */
  render(subject: PageSubject, template: Template | null, language: Language): RenderedPage {
    const wording = this.wordings.get(language) as Wording;
    if (subject.kind === 'blocked' && template !== null) {
      const headers = pageHeaders(CUSTOM_PAGE_POLICY, language);
      return { page: 'custom', headers, html: fill(template, subject, wording) };
    }
    const headers = pageHeaders(this.builtIn.contentSecurityPolicy, language);
    return { page: 'built_in', headers, html: this.builtIn.render(subject, wording) };
  }
}

function fill(template: Template, subject: BlockedSubject, wording: Wording): string {
  const { name, reason, target, nextSwitch, pageId, incident } = subject;
  const values: PlaceholderValues = {
    ...(name !== undefined && { name: displayName(name) }),
    reason: wording.reason(reason),
    reason_code: reason.code,
    language: wording.language,
    direction: wording.texts.direction,
    page_id: String(pageId),
    assets: `${ASSETS_PATH}${pageId}`,
    ...(incident !== undefined && { incident }),
    ...(target !== undefined && { target: displayName(target) }),
    ...(nextSwitch !== undefined && {
      schedule: wording.schedule(nextSwitch),
      next_switch: wording.timeOf(nextSwitch.atMs),
    }),
    ...(reason.code === 'order' && reason.texts),
    ...((reason.code === 'category' || reason.code === 'mandatory') && {
      category: reason.name ?? '',
    }),
    ...(reason.code === 'application' && { application: reason.name ?? '' }),
  };
  return template.fill(values);
}
