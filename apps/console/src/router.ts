import { type Signal, signal } from '@preact/signals';

const BASE = '/console/';

interface Place {
  /** Below `/console/`: `profiles/7`. One that cannot be decoded is `?`, which no page has. */
  readonly path: string;
  /** What the page shows. It is behind the `#`, which a browser sends to no server: it may be a domain. */
  readonly params: URLSearchParams;
}

export interface PageProperties {
  /** What follows the name of the page in the path: `7` of `profiles/7`. */
  readonly rest: string;
}

function current(): Place {
  const { pathname, hash } = globalThis.location;
  return { path: decoded(pathname.slice(BASE.length)), params: new URLSearchParams(hash.slice(1)) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '?';
  }
}

/** Another object at each navigation, also to the same address. */
export const place = signal(current());

/** The address of a page, for links. Values that are undefined or empty are left out. */
export function hrefOf(
  path: string,
  params: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `${BASE}${path}${given.length > 0 ? `#${search}` : ''}`;
}

/** Goes to an address of `hrefOf`. At that address already, the page shows anew what is there. */
export function navigate(href: string): void {
  if (new URL(href, location.href).href !== location.href) {
    history.pushState(null, '', href);
    forgetDrafts();
  }
  place.value = current();
}

globalThis.addEventListener('popstate', () => {
  forgetDrafts();
  place.value = current();
});

/** Links within the console load nothing. Those that open another tab, or lead elsewhere, are left to the browser. */
document.addEventListener('click', (event) => {
  const isPlain =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return;
  const link = event.target.closest<HTMLAnchorElement>(
    `a[href^="${BASE}"]:not([download], [target])`,
  );
  if (link === null) return;
  event.preventDefault();
  navigate(link.getAttribute('href') ?? BASE);
});

/** What was entered on the page and not sent, by the name of the field. Undefined: nothing was. */
const drafts = signal(new Map<string, Signal<unknown>>());

function draftOf(name: string): Signal<unknown> {
  const draft = drafts.value.get(name) ?? signal<unknown>(undefined);
  drafts.value.set(name, draft);
  return draft;
}

/** From now on all drafts are new. An answer that comes later changes only an old one, which no page shows. */
export function forgetDrafts(): void {
  drafts.value = new Map();
}

export function forgetDraft(name: string): void {
  draftOf(name).value = undefined;
}

/**
 * `useState` for what somebody enters. It outlives the page while the token has ended and another one is asked for, and
 * is forgotten when the person goes to another address or signs out.
 * @param name distinct on the page
 * @param initial until something is entered
 * @returns the value, and what sets it: when `before` is given, only if the value is still that
 */
export function useDraft<T>(name: string, initial: T): [T, (value: T, before?: T) => void] {
  const draft = draftOf(name);
  const now = (): T => (draft.value === undefined ? initial : (draft.value as T));
  const set = (value: T, before?: T): void => {
    if (before === undefined || before === now()) draft.value = value;
  };
  return [now(), set];
}
