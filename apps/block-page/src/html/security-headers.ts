import type { OutgoingHttpHeaders } from 'node:http';

/**
 * Makes a page a document of an origin of its own, without scripts. So it cannot reach what the browser keeps for
 * the blocked site, such as cookies.
 */
const SANDBOX = [
  'sandbox',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-top-navigation-by-user-activation',
  'allow-top-navigation-to-custom-protocols',
].join(' ');
const COMMON_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A custom page may show what lies beside it, and style itself. */
const CUSTOM_PAGE_POLICY =
  "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; media-src 'self'";

/**
 * For the files of custom pages. A style sheet or an image in a page goes by the page's policy; this one is for a
 * file that is opened by itself.
 */
const ASSET_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox";

/**
 * Headers of every answer: no page is kept, framed or indexed. The connection ends with it, so that the next
 * request asks DNS where the site is.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  Connection: 'close',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
};

export const ASSET_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': ASSET_POLICY,
  // Fonts are fetched by a document of no origin.
  'Access-Control-Allow-Origin': '*',
};

/** @param builtInPolicy the Content-Security-Policy of the built-in page */
export function pageHeaders(
  page: 'built_in' | 'custom',
  builtInPolicy: string,
  language: string,
): OutgoingHttpHeaders {
  const policy = page === 'custom' ? CUSTOM_PAGE_POLICY : builtInPolicy;
  return {
    ...COMMON_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': language,
    'Content-Security-Policy': `${policy}; ${COMMON_POLICY}; ${SANDBOX}`,
  };
}
