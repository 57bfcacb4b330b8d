import { domainOrNull, toWireName } from '@weir/dns-name';
import { parseName } from '@weir/dns-wire';
import type { Logger } from '@weir/ops';
import { type OpsCall, OpsCallError } from '@weir/ops/metrics';
import { setImmediate } from 'node:timers/promises';
import type { AnswerCache } from '../cache/answer-cache.js';
import { NameRange, type NameRangeOptions } from '../query/name-range.js';

interface FlushCallOptions {
  readonly cache: AnswerCache;
  /** Whether NXDOMAIN of a name holds for the names below it (`CACHE_NXDOMAIN_CUT`). */
  readonly hasNxDomainCut: boolean;
  readonly log: Pick<Logger, 'info'>;
}

/**
 * `POST /cache/flush`: `{"name":"example.com"}`, with `"below":true` for the names below it too, or `{"all":true}`.
 * Answers `{"removed":2}`, the number of answers and failures that were removed. Flushed names are not logged.
 *
 * The answer to a question that is in flight reaches the clients that wait for it, but not the cache, and clients that
 * ask after the flush do not wait for it. Flushes follow one another, each in pieces between queries.
 */
export function flushCall({ cache, hasNxDomainCut, log }: FlushCallOptions): OpsCall {
  let last: Promise<unknown> = Promise.resolve();
  const remove = async (names: NameRange | null): Promise<number> => {
    let removed = 0;
    for (const count of names === null ? cache.flushAll() : cache.flush(names)) {
      removed += count;
      await setImmediate();
    }
    return removed;
  };
  const run = async (body: unknown): Promise<object> => {
    const request = readRequest(body);
    const names = request === 'all' ? null : new NameRange({ ...request, hasNxDomainCut });
    const flush = last.then(() => remove(names));
    last = flush.catch(() => undefined);
    const removed = await flush;
    log.info({ all: names === null, removed }, 'cache flushed');
    return { removed };
  };
  return { method: 'POST', run };
}

type FlushRequest = Omit<NameRangeOptions, 'hasNxDomainCut'>;

function readRequest(body: unknown): 'all' | FlushRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw wrongBody();
  const { all, name, below = false, ...others } = body as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0) throw wrongBody();
  if (all === true && name === undefined && !('below' in body)) return 'all';
  if (all !== undefined || typeof name !== 'string' || typeof below !== 'boolean')
    throw wrongBody();
  return { name: readName(name), isBelowIncluded: below };
}

/** As the query log shows it, or as a person writes it. */
function readName(text: string): Uint8Array {
  const name = parseName(text);
  if (name !== null) return name;
  const international = domainOrNull(text);
  if (international !== null) return toWireName(international);
  throw new OpsCallError('name must be a domain name, such as example.com');
}

function wrongBody(): OpsCallError {
  return new OpsCallError(
    'the body must be {"name":"example.com"}, with "below":true for the names below it too, or {"all":true}',
  );
}
