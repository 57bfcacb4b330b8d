import type { HashKey } from '@weir/dns-name';
import type { DnsConfiguration } from '../configuration.js';
import { AnswerCache } from './answer-cache.js';
import { TargetHasher } from './target-hasher.js';

const MEBIBYTE = 2 ** 20;

/** @param readers number of other threads that look up in it */
export function createCache(
  configuration: Pick<
    DnsConfiguration,
    'CACHE_MAX_TTL' | 'CACHE_MIN_TTL' | 'CACHE_SIZE_MB' | 'INSPECT_CNAME'
  >,
  hashKey: HashKey,
  readers: number,
): AnswerCache {
  const { CACHE_MAX_TTL: maxTtlSeconds } = configuration;
  return new AnswerCache({
    sizeBytes: configuration.CACHE_SIZE_MB * MEBIBYTE,
    minTtlSeconds: configuration.CACHE_MIN_TTL,
    ...(maxTtlSeconds !== undefined && { maxTtlSeconds }),
    targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
    readers,
  });
}
