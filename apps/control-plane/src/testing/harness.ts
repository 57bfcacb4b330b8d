import 'reflect-metadata';
import { openDeployment, parseVariables } from '@weir/ops';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { Deployment } from '@weir/change-feed';
import { startPrivateRedis } from '@weir/change-feed/testing';
import { SCHEMA } from '../configuration.js';
import { type ControlPlane, startControlPlane } from '../control-plane.js';
import { createFreshDatabase, dropDatabase } from './fresh-database.js';
import { loadOpenApiChecker, openApiChecker } from './openapi-checker.js';
import type { Answer } from './response.js';

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
  }
}

export const TOKEN = 'token-of-the-management-tests';
export const FEED_TOKEN = 'token-of-the-feed-tests';
export const HASH_KEY = '000102030405060708090a0b0c0d0e0f';

const CATALOGUE = fileURLToPath(new URL('./catalogue', import.meta.url));

/** A control plane as in production, with its own ports, database and Redis. */
export interface Harness {
  readonly controlPlane: ControlPlane;
  readonly environment: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  readonly feedUrl: string;
  /** What followers and the control plane share. */
  readonly deployment: Deployment;
  readonly authorization: { readonly Authorization: string };
  /** Its log lines so far, as JSON. */
  readonly logLines: readonly string[];
  /** Calls the management API with the token. A body is sent as JSON. */
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  /** Rows of a query, values in order; integers of 64 bits as text. */
  readonly sql: (text: string) => Promise<unknown[][]>;
  /** Starts another replica on the same database and Redis. */
  readonly startReplica: (variables?: Record<string, string>) => Promise<ControlPlane>;
  /** The same, but does not wait until it is ready. */
  readonly launchReplica: Harness['startReplica'];
  readonly stop: () => Promise<void>;
}

/** @param options `databasePort`: where the control plane reaches PostgreSQL, when not at its own port. */
export async function startHarness(
  variables: Record<string, string> = {},
  options: { databasePort?: number } = {},
): Promise<Harness> {
  const adminUrl = inject('databaseUrl');
  const [databaseUrl, redis] = await Promise.all([
    createFreshDatabase(adminUrl),
    startPrivateRedis(),
  ]);
  const environment = {
    DATABASE_URL: withPort(databaseUrl, options.databasePort),
    REDIS_URL: redis.url,
    MANAGEMENT_PORT: '0',
    MANAGEMENT_TOKENS: `${TOKEN},second-token-of-the-tests`,
    DOMAIN_HASH_KEY: HASH_KEY,
    FEED_PORT: '0',
    FEED_TOKENS: FEED_TOKEN,
    OPS_PORT: '0',
    CATALOGUE,
    // The tests trigger updates of the catalogue themselves.
    CATALOGUE_INTERVAL_MS: '3600000',
    ...variables,
  };
  const logLines: string[] = [];
  const log = pino({}, { write: (line: string) => void logLines.push(line) });
  const start = (more: Record<string, string> = {}) =>
    startControlPlane(parseVariables(SCHEMA, { ...environment, ...more }), log);
  const startReady = async (more?: Record<string, string>): Promise<ControlPlane> => {
    const started = await start(more);
    await started.ready;
    return started;
  };
  const controlPlane = await startReady();
  const baseUrl = `http://127.0.0.1:${controlPlane.managementPort}`;
  await loadOpenApiChecker(baseUrl, { Authorization: `Bearer ${TOKEN}` });
  const client = new pg.Client(databaseUrl);
  await client.connect();
  // The database may be dropped while this client is connected.
  client.on('error', () => undefined);
  return {
    controlPlane,
    environment,
    baseUrl,
    authorization: { Authorization: `Bearer ${TOKEN}` },
    deployment: openDeployment(parseVariables(SCHEMA, environment), log),
    feedUrl: `http://127.0.0.1:${controlPlane.feedPort}`,
    logLines,
    call: (method, path, body, headers) => call(baseUrl, method, path, body, headers),
    sql: async (text) => (await client.query<unknown[]>({ text, rowMode: 'array' })).rows,
    startReplica: startReady,
    launchReplica: start,
    stop: async () => {
      await controlPlane.stop();
      await client.end();
      await redis.stop();
      await dropDatabase(adminUrl, databaseUrl);
    },
  };
}

function withPort(text: string, port: number | undefined): string {
  const url = new URL(text);
  if (port !== undefined) url.port = String(port);
  return url.href;
}

async function call(
  baseUrl: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
  openApiChecker()?.check(method, path, body, answer);
  return answer;
}

/** The faults of a 422 answer as `place: type`, in alphabetical order. */
export function faultsOf(answer: Answer): string[] {
  const { detail } = answer.body as { detail: { loc: string[]; msg: string; type: string }[] };
  return detail.map(({ loc, type }) => `${loc.join('.')}: ${type}`).sort();
}

/** One value of each item of an answer that is a list. */
export function pluck<T>(answer: Answer, value: (item: Answer['body']) => T): T[] {
  return (answer.body as Answer['body'][]).map(value);
}
