import { CatalogueError } from '../catalogue-error.js';
import { bounded, type ByteStream } from '../lists/list.js';
import { type OpenedSource, type OpenOptions, Timeouts } from './source.js';

const MAX_STATUS_TEXT = 60;
const MAX_REDIRECTS = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export async function openUrl(address: string, options: OpenOptions): Promise<OpenedSource> {
  const timeouts = new Timeouts(options);
  try {
    const response = await follow(request(address, options), options, timeouts);
    if (response.status === 304) {
      timeouts.end();
      return { status: 'unchanged' };
    }
    checkAnswer(response, options.maxBytes);
    return {
      status: 'opened',
      body: bounded(bodyOf(response, timeouts), options.maxBytes),
      etag: response.headers.get('etag'),
      lastModified: response.headers.get('last-modified'),
    };
  } catch (error) {
    timeouts.end();
    throw toCatalogueError(error, 'cannot be reached');
  }
}

/** Whether nobody can change the answer on its way: https, signed, or from here (W3C Secure Contexts §3.1). */
export function isProtected({ protocol, hostname, searchParams }: URL): boolean {
  if (protocol === 'https:' || (protocol === 'rpz:' && searchParams.has('key'))) return true;
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

interface UrlRequest {
  readonly url: URL;
  readonly headers: Headers;
}

/** Sends a request and follows its redirects, unless one leads where others could change the answer. */
async function follow(
  { url: first, headers }: UrlRequest,
  { isPinned = false }: OpenOptions,
  timeouts: Timeouts,
): Promise<Response> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(url, { headers, redirect: 'manual', signal: timeouts.signal });
    timeouts.restartIdle();
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw new CatalogueError('redirects to what is no http or https URL');
    }
    if (next.origin !== url.origin) {
      const isLocal = url.protocol === 'http:' && isProtected(url) && isProtected(next);
      if (next.protocol !== 'https:' && !isLocal && !isPinned) {
        throw new CatalogueError('redirects to a URL without https');
      }
      headers.delete('authorization');
    }
    next.username = '';
    next.password = '';
    url = next;
  }
  throw new CatalogueError(`redirects more than ${MAX_REDIRECTS} times`);
}

/** `fetch` accepts no credentials in a URL. */
function request(address: string, { etag, lastModified }: OpenOptions): UrlRequest {
  const url = new URL(address);
  // Of compressed content that ends too early, `fetch` gives what there is, without an error.
  const headers = new Headers({ 'user-agent': 'weir-catalogue', 'accept-encoding': 'identity' });
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
    url.username = '';
    url.password = '';
  }
  if (etag) headers.set('if-none-match', etag);
  if (lastModified) headers.set('if-modified-since', lastModified);
  return { url, headers };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new CatalogueError('has credentials in which a % is not written as %25', { cause });
  }
}

function checkAnswer(response: Response, maxBytes: number): void {
  if (response.status !== 200) {
    const text = response.statusText.slice(0, MAX_STATUS_TEXT).replaceAll(/\p{Cc}/gu, ' ');
    throw new CatalogueError(`answered ${response.status} ${text}`.trimEnd());
  }
  if (Number(response.headers.get('content-length')) > maxBytes) {
    throw new CatalogueError(`is larger than ${maxBytes} bytes`);
  }
}

async function* bodyOf(response: Response, timeouts: Timeouts): ByteStream {
  try {
    for await (const chunk of response.body ?? []) {
      timeouts.restartIdle();
      yield chunk;
    }
  } catch (error) {
    throw toCatalogueError(error, 'broke off');
  } finally {
    timeouts.end();
  }
}

/** A network error as a CatalogueError with the reason, which `fetch` puts in the cause. */
function toCatalogueError(error: unknown, problem: string): unknown {
  if (!(error instanceof TypeError)) return error;
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  // System errors have a name as their code, others a number or none.
  const reason = typeof code === 'string' ? code : message;
  return new CatalogueError(`${problem}: ${reason}`, { cause: error });
}
