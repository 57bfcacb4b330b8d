import type { OutgoingHttpHeaders } from 'node:http';

/**
 * Gives a page its own origin and forbids scripts. So it cannot read what the browser stores for the blocked site,
 * such as cookies.
 */
const SANDBOX = [
  'sandbox',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-top-navigation-by-user-activation',
  'allow-top-navigation-to-custom-protocols',
].join(' ');
const COMMON_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A custom page may load files beside it, and may have inline styles. */
export const CUSTOM_PAGE_POLICY =
  "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; media-src 'self'";

/**
 * For files of custom pages that are opened directly. A style sheet or an image inside a page follows the policy of
 * the page.
 */
const ASSET_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox";

/**
 * Headers of every answer: no caching, no frames, no indexing. The connection is closed, so that the browser asks
 * DNS again before its next request.
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
  // Fonts need this header, because the document has an opaque origin.
  'Access-Control-Allow-Origin': '*',
};

/** @param policy the part of the Content-Security-Policy that depends on the page */
export function pageHeaders(policy: string, language: string): OutgoingHttpHeaders {
  return {
    ...COMMON_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': language,
    'Content-Security-Policy': `${policy}; ${COMMON_POLICY}; ${SANDBOX}`,
  };
}
