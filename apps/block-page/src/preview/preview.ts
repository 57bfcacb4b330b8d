import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CustomPages, sendAsset } from '../content/custom-pages.js';
import { ASSETS_PATH, type Pages } from '../page/pages.js';
import type { BlockReason, PageSubject } from '../page/subject.js';
import { type Language, LANGUAGES } from '../texts/index.js';
import { negotiateLanguage } from '../texts/texts.js';

const PREVIEW_PATH = /^\/__preview\/(default|0|[1-9]\d{0,9})$/;
const BASE = 'http://ops.invalid';
const NAME = 'www.blocked.example';
const DEFAULT_PAGE = -1;
const TWO_HOURS_MS = 7_200_000;

const REASONS: Readonly<Record<string, BlockReason>> = {
  category: { code: 'category', name: 'Example category' },
  application: { code: 'application', name: 'Example application' },
  list: { code: 'list' },
  allow_list_only: { code: 'allow_list_only' },
  grant: { code: 'grant' },
  order: {
    code: 'order',
    texts: { authority: 'Example Regulator', reference: 'ER 2026/123' },
  },
  secret: { code: 'order', texts: undefined },
  mandatory: { code: 'mandatory', name: 'Example category', isByLaw: false },
  mandatory_by_law: { code: 'mandatory', name: 'Example category', isByLaw: true },
};
const OTHER_SUBJECTS: readonly PageSubject[] = [
  { kind: 'not_blocked', name: NAME },
  { kind: 'no_name' },
  { kind: 'not_ready' },
];
const SUBJECT_NAMES = [...Object.keys(REASONS), ...OTHER_SUBJECTS.map(({ kind }) => kind)];

interface PreviewOptions {
  readonly pages: Pages;
  readonly custom: CustomPages;
  readonly language: Language;
  readonly nowMs: () => number;
}

/**
 * Shows any page to staff, on the ops port: `/__preview/<page id or "default">?reason=…&lang=…&schedule=…`.
 * Existing content is shown even if no block page with that id exists yet.
 * @returns false: the path does not belong to the preview.
 */
export async function preview(
  { pages, custom, language: fallback, nowMs }: PreviewOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { url = '/' } = request;
  if (!URL.canParse(url, BASE)) return false;
  const { pathname, searchParams } = new URL(url, BASE);
  if (pathname.startsWith(ASSETS_PATH)) {
    sendAsset(request, response, custom, pathname.slice(ASSETS_PATH.length));
    return true;
  }
  const id = PREVIEW_PATH.exec(pathname)?.[1];
  if (id === undefined) return false;
  const pageId = id === 'default' ? DEFAULT_PAGE : Number(id);
  const subject = subjectOf(searchParams, pageId, nowMs());
  const wanted = searchParams.get('lang');
  const language =
    wanted === null
      ? negotiateLanguage(request.headers['accept-language'], fallback)
      : LANGUAGES.find((one) => one === wanted);
  if (typeof subject === 'string') refuse(response, subject);
  else if (language === undefined) {
    refuse(response, `lang must be one of ${LANGUAGES.join(', ')}\n`);
  } else {
    const template = pageId === DEFAULT_PAGE ? null : await custom.preview(pageId);
    const { headers, html } = pages.render(subject, template, language);
    response.writeHead(200, headers).end(html);
  }
  return true;
}

/** @returns a text if the parameters are wrong */
function subjectOf(
  parameters: URLSearchParams,
  pageId: number,
  nowMs: number,
): PageSubject | string {
  const wanted = parameters.get('reason') ?? 'category';
  const schedule = parameters.get('schedule') ?? 'none';
  if (!['none', 'until', 'from'].includes(schedule)) {
    return 'schedule must be one of none, until, from\n';
  }
  const other = OTHER_SUBJECTS.find(({ kind }) => kind === wanted);
  if (other !== undefined) return other;
  if (!Object.hasOwn(REASONS, wanted)) return `reason must be one of ${SUBJECT_NAMES.join(', ')}\n`;
  const nextSwitch =
    schedule === 'none'
      ? undefined
      : { atMs: nowMs + TWO_HOURS_MS, isInPeriod: schedule === 'until' };
  const none = { target: undefined, incident: undefined };
  const name = wanted === 'secret' ? undefined : NAME;
  return { kind: 'blocked', name, reason: REASONS[wanted], nextSwitch, pageId, ...none };
}

function refuse(response: ServerResponse, text: string): void {
  response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}
