import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether somebody wants to see a page, not an image, a script or data. A browser names `text/html` for every page.
 * It also tells by Sec-Fetch-Dest, but over plain HTTP to its own machine only. Other programs, such as curl, take
 * anything; a request without Accept takes anything too (RFC 9110 §12.5.1).
 */
export function isPageRequest(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined) return destination === 'document';
  const accept = headers.accept ?? '*/*';
  if (/\b(?:text\/html|application\/xhtml\+xml)\b/i.test(accept)) return true;
  const isBrowser = headers['user-agent']?.startsWith('Mozilla/') ?? false;
  return accept.trim() === '*/*' && !isBrowser;
}
