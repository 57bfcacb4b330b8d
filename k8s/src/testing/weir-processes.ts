import { freePort } from '@weir/ops/testing';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';

export const TOKEN = 'token-of-the-metrics-test';
/** Of this deployment alone: others are on the same Redis. */
const SECRETS = { FEED_TOKENS: randomBytes(16).toString('hex'), DOMAIN_HASH_KEY: '0'.repeat(32) };

/** The three processes of Weir, compiled as for production, on free ports of this machine. */
export interface WeirProcesses {
  readonly managementUrl: string;
  readonly dnsPort: number;
  /** Of the control plane, the resolver and the block page. */
  readonly opsPorts: readonly number[];
  readonly blockPageUrl: string;
  /** Text of `/metrics` of a process, by its Prometheus job name. */
  readonly metrics: (
    job: 'weir-control-plane' | 'weir-resolver' | 'weir-block-page',
  ) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Migrates the database and starts the processes. @param upstream address and port of the resolver's upstream. */
export async function startWeir(
  databaseUrl: string,
  redisUrl: string,
  upstream: string,
): Promise<WeirProcesses> {
  await runNode('tools/dist/migrate.js', { DATABASE_URL: databaseUrl });
  const [management, feed, dns, page, ...ops] = await Promise.all(
    Array.from({ length: 7 }, freePort),
  );
  const follower = {
    ...SECRETS,
    REDIS_URL: redisUrl,
    FEED_URL: `http://127.0.0.1:${feed}`,
    UPSTREAMS: upstream,
  };
  const ports = (values: Record<string, number>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, port]) => [name, String(port)]));
  const stops = [
    start('apps/control-plane/dist/main.js', {
      ...SECRETS,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      MANAGEMENT_TOKENS: TOKEN,
      ...ports({ MANAGEMENT_PORT: management, FEED_PORT: feed, OPS_PORT: ops[0] }),
    }),
    start('apps/resolver/dist/main.js', {
      ...follower,
      BLOCK_PAGE_IPV4: '192.0.2.80',
      // So that it has the metrics of dnstap. Nothing listens there.
      DNSTAP_ENDPOINT: `tcp://${upstream}`,
      ...ports({ DNS_PORT: dns, OPS_PORT: ops[1] }),
    }),
    start('apps/block-page/dist/main.js', {
      ...follower,
      ...ports({ BLOCK_PAGE_PORT: page, OPS_PORT: ops[2] }),
    }),
  ];
  const stop = async (): Promise<void> => {
    await Promise.all(stops.map((end) => end()));
  };
  try {
    for (const port of ops) await waitUntilReady(port);
  } catch (error) {
    await stop();
    throw error;
  }
  const opsPorts = {
    'weir-control-plane': ops[0],
    'weir-resolver': ops[1],
    'weir-block-page': ops[2],
  };
  return {
    managementUrl: `http://127.0.0.1:${management}`,
    dnsPort: dns,
    opsPorts: ops,
    blockPageUrl: `http://127.0.0.1:${page}`,
    metrics: async (job) => (await fetch(`http://127.0.0.1:${opsPorts[job]}/metrics`)).text(),
    stop,
  };
}

async function runNode(script: string, env: Record<string, string>): Promise<void> {
  await promisify(execFile)(process.execPath, [join(REPOSITORY_FOLDER, script)], { env });
}

/** @returns a function that stops the process and waits until it ends. */
function start(script: string, env: Record<string, string>): () => Promise<void> {
  const child = spawn(process.execPath, [script], { cwd: REPOSITORY_FOLDER, env, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return () => {
    child.kill('SIGTERM');
    return ended;
  };
}

async function waitUntilReady(opsPort: number): Promise<void> {
  const check = async (): Promise<void> => {
    const { status } = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
    expect(status).toBe(200);
  };
  await vi.waitFor(check, { timeout: 120_000, interval: 200 });
}
