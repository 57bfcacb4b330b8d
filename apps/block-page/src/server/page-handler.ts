import {
  type ClientAddress,
  type RateTable,
  type SubscriberKey,
  UNKNOWN_PORT,
} from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http';
import { type CustomPages, sendAsset } from '../content/custom-pages.js';
import type { Template } from '../content/template.js';
import { COMMON_HEADERS } from '../html/security-headers.js';
import type { PageCounters, Refusal } from '../metrics/page-counters.js';
import { ASSETS_PATH, type Pages } from '../page/pages.js';
import { type PageSubject, statusOf } from '../page/subject.js';
import type { Language } from '../texts/index.js';
import { negotiateLanguage } from '../texts/texts.js';
import { requestedName, type RequestEvaluator } from '../verdict/request-evaluator.js';

/** `address`, `address:port`, `[v6]` or `[v6]:port`, as proxies write it. */
const ENTRY = /^(?:\[([^\]]*)\]|([\d.]+)|([^\]]*))(?::(\d{1,5}))?$/;

/**
 * Replaces the sender of a request by the visitor that trusted proxies name: the rightmost entry of
 * `X-Forwarded-For` that is not a trusted proxy (decisions §8). Empty entries are skipped.
 * @param client the sender; becomes the visitor
 * @returns false: a relevant entry is not an address, and `client` is undefined then
 */
export function followForwardedFor(
  client: ClientAddress,
  forwardedFor: string | undefined,
  trustedProxies: CidrSet,
): boolean {
  if (forwardedFor === undefined) return true;
  for (const text of forwardedFor.split(',').reverse()) {
    const entry = text.trim();
    if (!trustedProxies.has(client)) return true;
    if (entry !== '' && !readEntry(entry, client)) return false;
  }
  return true;
}

function readEntry(entry: string, client: ClientAddress): boolean {
  const match = ENTRY.exec(entry);
  if (match === null) return false;
  const port = match[4] === undefined ? UNKNOWN_PORT : Number(match[4]);
  return port <= 65_535 && client.set(match[1] ?? match[2] ?? match[3], port);
}

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

const RETRY_AFTER_SECONDS = '1';

export interface PageHandlerOptions {
  readonly evaluator: RequestEvaluator;
  readonly pages: Pages;
  readonly custom: CustomPages;
  readonly trustedProxies: CidrSet;
  readonly subscriber: SubscriberKey;
  readonly rates: RateTable;
  /** Maximum requests per second of one subscriber; 0: no limit. */
  readonly requestsPerSecond: number;
  readonly language: Language;
  readonly counters: PageCounters;
}

export class PageHandler {
  constructor(private readonly options: PageHandlerOptions) {}

  /** @param client the sender of the request; becomes the visitor that a trusted proxy names */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    client: ClientAddress,
  ): Promise<void> {
    const { trustedProxies, custom, counters } = this.options;
    const { headers, method, url = '/' } = request;
    const { host = [], 'x-forwarded-for': forwarded } = request.headersDistinct;
    if (host.length > 1) return this.refuse(response, 'malformed');
    const forwardedFor = forwarded?.join(',');
    if (!followForwardedFor(client, forwardedFor, trustedProxies)) {
      return this.refuse(response, 'unknown_visitor');
    }
    if (!this.admits(client)) return this.refuse(response, 'rate');
    if ((method === 'GET' || method === 'HEAD') && url.startsWith(ASSETS_PATH)) {
      counters.assets++;
      const [path] = url.slice(ASSETS_PATH.length).split('?', 1);
      sendAsset(request, response, custom, path);
      return;
    }
    if (!isPageRequest(method, headers)) return this.refuse(response, 'no_page');
    await this.answerPage(request, response, client);
  }

  private async answerPage(
    { url = '/', headers }: IncomingMessage,
    response: ServerResponse,
    client: ClientAddress,
  ): Promise<void> {
    const { evaluator, pages, counters } = this.options;
    const subject = await evaluator.evaluate(client, requestedName(url, headers.host));
    const language = negotiateLanguage(headers['accept-language'], this.options.language);
    const page = pages.render(subject, await this.templateOf(subject), language);
    counters.countPage(page.page, subject);
    const body = Buffer.from(page.html);
    response.writeHead(statusOf(subject), {
      ...page.headers,
      'Content-Length': body.length,
      ...(subject.kind === 'not_ready' && { 'Retry-After': RETRY_AFTER_SECONDS }),
    });
    response.end(body);
  }

  /** The custom page of a block page of type 1, if it has content. */
  private async templateOf(subject: PageSubject): Promise<Template | null> {
    const { custom } = this.options;
    if (subject.kind !== 'blocked' || !custom.isConfigured(subject.pageId)) return null;
    return custom.find(subject.pageId);
  }

  private admits(client: ClientAddress): boolean {
    const { requestsPerSecond, subscriber, rates } = this.options;
    if (requestsPerSecond === 0) return true;
    subscriber.identify(client);
    const nowSeconds = Math.floor(performance.now() / 1000) + 1;
    return rates.allows(subscriber.first, subscriber.second, nowSeconds, requestsPerSecond);
  }

  private refuse(response: ServerResponse, refusal: Refusal): void {
    this.options.counters.refuse(refusal);
    const isOverRate = refusal === 'rate';
    const status = isOverRate ? 429 : refusal === 'no_page' ? 403 : 400;
    response.writeHead(status, {
      ...COMMON_HEADERS,
      'Content-Length': 0,
      ...(isOverRate && { 'Retry-After': RETRY_AFTER_SECONDS }),
    });
    response.end();
  }
}
