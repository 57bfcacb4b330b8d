import { compileCatalogue, NameList } from '@weir/catalogue';
import { type PrivateRedis, startPrivateRedis } from '@weir/change-feed/testing';
import type { PutOperation } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { createLogger, parseVariables } from '@weir/ops';
import { ControlPlane, FEED_TOKEN, HASH_KEY_HEX, put } from '@weir/policy-feed/testing';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type BlockPage, startBlockPage } from '../block-page.js';
import { SCHEMA } from '../configuration.js';

export const GAMBLING = 12;
export const SAFE_SEARCH = 21;
export const VIDEO = 3;

export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Asked {
  readonly host?: string | null;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sets up a Redis for the spec file, and a control plane for each test. The fields are good inside a test. */
export interface Surroundings {
  readonly plane: ControlPlane;
  /** Starts a block page on free ports, which ends with the test. */
  start(
    variables?: Readonly<Record<string, string>>,
    more?: { readonly nowMs?: () => number; readonly isReady?: boolean },
  ): Promise<BlockPage>;
  /** Run after the test, last first. */
  readonly cleanups: (() => unknown)[];
}

export function useSurroundings(): Surroundings {
  const cleanups: (() => unknown)[] = [];
  let redis: PrivateRedis;
  let plane: ControlPlane;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
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
    start: async (variables = {}, { nowMs, isReady = true } = {}) => {
      const configuration = parseVariables(SCHEMA, {
        BLOCK_PAGE_PORT: '0',
        OPS_PORT: '0',
        INSPECT_CNAME: 'false',
        DOMAIN_HASH_KEY: HASH_KEY_HEX,
        REDIS_URL: redis.url,
        FEED_URL: plane.feedUrl,
        FEED_TOKENS: FEED_TOKEN,
        ...variables,
      });
      const log = createLogger({ name: 'block-page', level: 'silent' });
      const page = await startBlockPage({ configuration, log, ...(nowMs && { nowMs }) });
      cleanups.push(() => page.stop());
      if (isReady) await page.ready;
      return page;
    },
  };
}

/**
 * A catalogue with the categories Gambling (bet.example) and Safe search (search.example is strict.example), and the
 * application Video (video.example).
 */
export function activateCatalogue(plane: ControlPlane): PutOperation {
  const key = parseHashKey(HASH_KEY_HEX);
  const { image, sha256 } = compileCatalogue(
    {
      categories: [
        { id: GAMBLING, name: 'Gambling', lists: [NameList.of(['bet.example'], key)] },
        {
          id: SAFE_SEARCH,
          name: 'Safe search',
          lists: [],
          rewrites: [{ names: ['search.example'], to: 'strict.example' }],
        },
        ...[
          { id: 30, name: 'Court list', purpose: 'legal', mandatory: true } as const,
          { id: 31, name: 'Botnets', mandatory: true } as const,
          { id: 32, name: 'Hidden', purpose: 'legal', mandatory: true, secret: true } as const,
        ].map((group) => ({
          ...group,
          lists: [NameList.of([`mandatory${group.id}.example`], key)],
        })),
      ],
      applications: [{ id: VIDEO, name: 'Video', lists: [NameList.of(['video.example'], key)] }],
    },
    key,
  );
  plane.images.set(sha256, image);
  return put('catalogue', { version: 1, sha256, sizeBytes: image.length });
}

/** The order to block `ordered.example` for everybody. */
export const ORDER = put('order', {
  id: 1,
  domainHash: hashDomain('ordered.example', parseHashKey(HASH_KEY_HEX)),
  until: null,
  authority: 'Landgericht Musterstadt',
  reference: '3 O 1/26 <b>',
});

/** Asks as curl does, unless headers say otherwise. @param asked `host: null` sends no name */
export function ask(page: Pick<BlockPage, 'port'>, asked: Asked = {}): Promise<PageAnswer> {
  const { host = 'blocked.example', path = '/', method = 'GET', headers = {} } = asked;
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port: page.port,
      path,
      method,
      setHost: false,
      headers: { Accept: '*/*', Host: host ?? `127.0.0.1:${page.port}`, ...headers },
    });
    sent.on('error', reject).on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.end();
  });
}
