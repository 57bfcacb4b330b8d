import { createHash } from 'node:crypto';
import type { Brand } from '../brand/brand.js';
import { markup, Markup } from '../html/markup.js';
import type { Message, Texts } from '../texts/index.js';
import {
  type BlockedSubject,
  displayName,
  isByLaw,
  isForEverybody,
  type OrderTexts,
  type PageSubject,
  type Wording,
} from './subject.js';

/*
 * Colours are chosen for a contrast of at least 4.5:1 between text and background (WCAG 2.2, 1.4.3), in light and dark.
 * The brand's colour is only used as a background, with black or white text on it.
 */
const SHEET = `
:root {
  color-scheme: light dark;
  --back: #f2f4f7; --card: #fff; --line: #d5dbe4;
  --text: #1a2230; --soft: #4c586b; --link: #0b57d0; --stop: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #10141b; --card: #1b212b; --line: #39424f;
    --text: #eef1f6; --soft: #b3bdcc; --link: #a8c7fa; --stop: #ff8a80;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--back); color: var(--text);
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
header {
  display: flex; align-items: center; gap: .75rem; min-height: .5rem; padding: .875rem 1.5rem;
  background: var(--brand); color: var(--on-brand); font-weight: 600; overflow-wrap: anywhere;
}
header.bare { padding: 0 }
header img { display: block; max-height: 2.5rem; max-width: 60vw }
main { width: 100%; max-width: 40rem; margin: auto; padding: 2rem 1rem }
.card {
  padding: 2rem; border: 1px solid var(--line); border-radius: 1rem;
  background: var(--card); overflow-wrap: anywhere;
}
svg { display: block; width: 3.5rem; height: 3.5rem; color: var(--soft) }
.stop { color: var(--stop) }
h1 { margin: 1rem 0 .25rem; font-size: 1.75rem; line-height: 1.25 }
.name { margin: 0 0 1rem; font-size: 1.25rem; font-weight: 600; color: var(--soft) }
p { margin: .75rem 0 }
dl { margin: 1.5rem 0; border-top: 1px solid var(--line) }
dl div { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .75rem 0; border-bottom: 1px solid var(--line) }
dt { flex: 0 0 9rem; color: var(--soft) }
dd { flex: 1 1 14rem; margin: 0; font-weight: 600 }
code { user-select: all; font-size: .875rem; font-weight: 400 }
a { color: var(--link); text-underline-offset: .2em }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: .25rem }
.button {
  display: inline-block; margin: .5rem 0; padding: .75rem 1.5rem;
  border: 1px solid var(--soft); border-radius: .5rem;
  background: var(--brand); color: var(--on-brand); font-weight: 600; text-decoration: none;
}
.help a { display: inline-block; min-height: 1.5rem; margin-inline-end: 1.25rem }
footer { padding: 0 1.5rem 1.5rem; text-align: center; color: var(--soft); font-size: .875rem }
@media (max-width: 30rem) { .card { padding: 1.25rem } h1 { font-size: 1.5rem } }
`;

function styleOf({ colour, onColour }: Pick<Brand, 'colour' | 'onColour'>): string {
  const sheet = SHEET.replaceAll(/\s*\n\s*/g, ' ').trim();
  return `:root { --brand: ${colour}; --on-brand: ${onColour} } ${sheet}`;
}

/** The icons of the page: a circle with a bar, and a circle with an i. Decorative. */
const STOP_SIGN = sign('stop', markup`<path d="M7 12h10" stroke-width="3"/>`);
const INFO_SIGN = sign('note', markup`<path d="M12 11v6M12 7v.01" stroke-width="2.5"/>`);

/** The built-in page: one document without scripts that loads nothing. */
export class BuiltInPage {
  /** The Content-Security-Policy: allows exactly what this page needs (CSP Level 3). */
  readonly contentSecurityPolicy: string;
  private readonly styleElement: Markup;

  constructor(private readonly brand: Brand) {
    const style = styleOf(brand);
    // The hash covers everything between the tags.
    this.styleElement = new Markup(`<style>${style}</style>`);
    const hash = createHash('sha256').update(style).digest('base64');
    this.contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:`;
  }

  render(subject: PageSubject, wording: Wording): string {
    const { texts, language } = wording;
    const message = messageOf(subject);
    const title = texts[`${message}Title`];
    const provider = this.brand.name === undefined ? '' : ` – ${this.brand.name}`;
    const isBlocked = subject.kind === 'blocked';
    const details = isBlocked
      ? detailsOf(subject, wording)
      : markup`<a class="button" href="">${texts.tryAgain}</a>`;
    const page = markup`<!doctype html>
<html lang="${language}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}${provider}</title>
<link rel="icon" href="data:,">
${this.styleElement}
</head>
<body>
${this.header()}
<main>
<div class="card">
${isBlocked ? STOP_SIGN : INFO_SIGN}
<h1>${title}</h1>
${nameOf(subject)}
<p>${texts[`${message}Text`]}</p>
${details}
${this.help(texts, isBlocked ? subject.incident : undefined)}
</div>
</main>
<footer>${texts.privacy}</footer>
</body>
</html>
`;
    return page.text;
  }

  private header(): Markup {
    const { name, logo } = this.brand;
    if (logo !== undefined) return markup`<header><img src="${logo}" alt="${name ?? ''}"></header>`;
    if (name !== undefined) return markup`<header>${name}</header>`;
    return markup`<header class="bare"></header>`;
  }

  private help(texts: Texts, incident: string | undefined): Markup | undefined {
    const { support, phone } = this.brand;
    const links = [support, phone].flatMap((link) => (link === undefined ? [] : [link]));
    if (links.length === 0) return undefined;
    const body = incident && encodeURIComponent(`${texts.incidentLabel}: ${incident}`);
    const anchors = links.map(({ href, text }) => {
      const isMail = body !== undefined && href.startsWith('mailto:');
      const target = isMail ? `${href}${href.includes('?') ? '&' : '?'}body=${body}` : href;
      return markup`<a href="${target}"><bdi>${text}</bdi></a>`;
    });
    return markup`<p class="help">${texts.helpLabel}: ${anchors}</p>`;
  }
}

const MESSAGES = { not_blocked: 'notBlocked', no_name: 'noName', not_ready: 'notReady' } as const;

function messageOf(subject: PageSubject): Message {
  if (subject.kind !== 'blocked') return MESSAGES[subject.kind];
  if (isByLaw(subject.reason)) return 'blockedByLaw';
  return isForEverybody(subject.reason) ? 'blockedForEverybody' : 'blocked';
}

function nameOf(subject: PageSubject): Markup | undefined {
  if (!('name' in subject) || subject.name === undefined) return undefined;
  return markup`<p class="name"><bdi>${displayName(subject.name)}</bdi></p>`;
}

function detailsOf(subject: BlockedSubject, wording: Wording): Markup | undefined {
  const { reason, target, nextSwitch, incident } = subject;
  const { texts } = wording;
  const rows =
    reason.code === 'order'
      ? orderRows(reason.texts, wording)
      : [row(texts.reasonLabel, markup`${wording.reason(reason)}`)];
  if (target !== undefined) {
    rows.unshift(row(texts.leadsToLabel, markup`<bdi>${displayName(target)}</bdi>`));
  }
  if (nextSwitch !== undefined) {
    rows.push(row(texts.scheduleLabel, markup`${wording.schedule(nextSwitch)}`));
  }
  if (incident !== undefined) {
    rows.push(row(texts.incidentLabel, markup`<code dir="ltr">${incident}</code>`));
  }
  const list = rows.length === 0 ? undefined : markup`<dl>${rows}</dl>`;
  // The visitor can do nothing about it.
  if (isForEverybody(reason)) return list;
  return markup`${list}
<p>${texts.advice}</p>
${incident && markup`<p>${texts.incidentHint}</p>`}`;
}

function orderRows(order: OrderTexts | undefined, { texts }: Wording): Markup[] {
  if (order === undefined) return [];
  return [
    row(texts.authorityLabel, markup`<bdi>${order.authority}</bdi>`),
    row(texts.referenceLabel, markup`<bdi>${order.reference}</bdi>`),
  ];
}

function row(label: string, value: Markup): Markup {
  return markup`<div><dt>${label}</dt><dd>${value}</dd></div>`;
}

function sign(kind: string, inside: Markup): Markup {
  return markup`<svg class="${kind}" width="56" height="56" viewBox="0 0 24 24" fill="none" stroke="currentColor"
stroke-width="2" stroke-linecap="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/>${inside}</svg>`;
}
