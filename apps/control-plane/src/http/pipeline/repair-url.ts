import type { Request } from '../routing/http.js';

/** Stands for a path segment with invalid percent-encoding. No segment that a client sends decodes to it. */
export const UNDECODABLE = '\uD800';

/**
 * Express would answer 400 to a segment that it cannot decode, and would find no route for `*`. Such a segment is
 * replaced, so that it is reported later together with all faults.
 */
export function repairUrl(request: Pick<Request, 'url' | 'path'>): void {
  if (!request.path.startsWith('/')) request.url = `/${request.url}`;
  if (!request.url.includes('%')) return;
  const [path, ...query] = request.url.split('?') as [string, ...string[]];
  const segments = path.split('/').map((one) => (isDecodable(one) ? one : UNDECODABLE));
  request.url = [segments.join('/'), ...query].join('?');
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
