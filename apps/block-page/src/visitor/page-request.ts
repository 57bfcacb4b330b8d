import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether the request is for a page, and not for an image, a script or data. For every page a browser accepts
 * `text/html`. Over plain HTTP a browser sends Sec-Fetch-Dest only to its own machine. Other programs, such as
 * curl, accept anything, and so does a request without Accept (RFC 9110 §12.5.1).
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
