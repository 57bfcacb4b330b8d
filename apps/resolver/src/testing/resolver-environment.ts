import { compileCatalogue } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import type { PutOperation } from '@weir/config-model';
import { parseHashKey } from '@weir/dns-name';
import { ControlPlane, FEED_TOKEN, HASH_KEY_HEX, put } from '@weir/policy-feed/testing';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { a } from '../query/testing/records.js';
import { respond } from './respond.js';
import { UpstreamServer } from './upstream-server.js';

/** What a resolver needs around it. */
export interface ResolverEnvironment {
  readonly plane: ControlPlane;
  /** By default it answers every query with 192.0.2.1. */
  readonly upstream: UpstreamServer;
  /** Variables that point a resolver there; its own ports are free ones. */
  readonly variables: Readonly<Record<string, string>>;
  /** Called after the test, last first. */
  readonly cleanups: (() => unknown)[];
}

/** Activates an empty catalogue. A resolver is ready only with a catalogue. */
export function activateCatalogue(plane: ControlPlane): PutOperation {
  const key = parseHashKey(HASH_KEY_HEX);
  const { image, sha256 } = compileCatalogue({ categories: [], applications: [] }, key);
  plane.images.set(sha256, image);
  return put('catalogue', { version: 1, sha256, sizeBytes: image.length });
}

/**
 * Starts a Redis for the spec file, and a control plane and an upstream for each test. The fields are valid inside a
 * test.
 */
export function useResolverEnvironment(): ResolverEnvironment {
  const cleanups: (() => unknown)[] = [];
  let redis: PrivateRedis;
  let plane: ControlPlane;
  let upstream: UpstreamServer;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    upstream = await UpstreamServer.start((query) => respond(query, { answers: [a('192.0.2.1')] }));
    cleanups.push(() => upstream.stop());
    plane = await ControlPlane.start(redis.url);
    cleanups.push(() => plane.stop());
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  return {
    cleanups,
    get plane() {
      return plane;
    },
    get upstream() {
      return upstream;
    },
    get variables() {
      return {
        DNS_PORT: '0',
        OPS_PORT: '0',
        DOMAIN_HASH_KEY: HASH_KEY_HEX,
        REDIS_URL: redis.url,
        FEED_URL: plane.feedUrl,
        FEED_TOKENS: FEED_TOKEN,
      };
    },
  };
}
