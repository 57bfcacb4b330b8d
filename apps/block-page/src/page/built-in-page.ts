import { createHash } from 'node:crypto';
import type { Brand } from '../brand/brand.js';
import type { Message } from '../texts/index.js';
import { markup, Markup } from '../html/markup.js';
import { styleOf } from './style.js';
import type { BlockedSubject, PageSubject } from './subject.js';
import { displayName, type Wording } from './wording.js';

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
    const message = messageOf(subject, wording);
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
<title>${message.title}${provider}</title>
<link rel="icon" href="data:,">
${this.styleElement}
</head>
<body>
${this.header()}
<main>
<div class="card">
${isBlocked ? STOP_SIGN : INFO_SIGN}
<h1>${message.title}</h1>
${nameOf(subject)}
<p>${message.text}</p>
${details}
${this.help(texts.helpLabel)}
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

  private help(label: string): Markup | undefined {
    const { support, phone } = this.brand;
    const links = [support, phone].flatMap((link) => (link === undefined ? [] : [link]));
    if (links.length === 0) return undefined;
    const anchors = links.map(({ href, text }) => markup`<a href="${href}"><bdi>${text}</bdi></a>`);
    return markup`<p class="help">${label}: ${anchors}</p>`;
  }
}

function messageOf({ kind }: PageSubject, { texts }: Wording): Message {
  switch (kind) {
    case 'blocked':
      return texts.blocked;
    case 'not_blocked':
      return texts.notBlocked;
    case 'no_name':
      return texts.noName;
    case 'not_ready':
      return texts.notReady;
  }
}

function nameOf(subject: PageSubject): Markup | undefined {
  if (subject.kind !== 'blocked' && subject.kind !== 'not_blocked') return undefined;
  return markup`<p class="name"><bdi>${displayName(subject.name)}</bdi></p>`;
}

function detailsOf({ reason, target, nextSwitch }: BlockedSubject, wording: Wording): Markup {
  const { texts } = wording;
  const rows = [row(texts.reasonLabel, markup`${wording.reason(reason)}`)];
  if (target !== undefined) {
    rows.unshift(row(texts.leadsToLabel, markup`<bdi>${displayName(target)}</bdi>`));
  }
  if (nextSwitch !== undefined) {
    rows.push(row(texts.scheduleLabel, markup`${wording.schedule(nextSwitch)}`));
  }
  return markup`<dl>${rows}</dl>
<p>${texts.advice}</p>`;
}

function row(label: string, value: Markup): Markup {
  return markup`<div><dt>${label}</dt><dd>${value}</dd></div>`;
}

function sign(kind: string, inside: Markup): Markup {
  return markup`<svg class="${kind}" width="56" height="56" viewBox="0 0 24 24" fill="none" stroke="currentColor"
stroke-width="2" stroke-linecap="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/>${inside}</svg>`;
}
