import { freePort } from '@weir/ops/testing';
import { WeirProcess } from '@weir/tools/services/weir-process';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
  const folder = mkdtempSync(join(tmpdir(), 'weir-processes-'));
  const processOf = (
    app: 'control-plane' | 'resolver' | 'block-page',
    opsPort: number,
    variables: Readonly<Record<string, string>>,
  ) =>
    new WeirProcess({
      ...{ name: app, app, root: REPOSITORY_FOLDER, opsPort },
      logFile: join(folder, `${app}.log`),
      environment: () => variables,
    });
  const processes = [
    processOf('control-plane', ops[0], {
      ...SECRETS,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      MANAGEMENT_TOKENS: TOKEN,
      ...ports({ MANAGEMENT_PORT: management, FEED_PORT: feed }),
    }),
    processOf('resolver', ops[1], {
      ...follower,
      BLOCK_PAGE_IPV4: '192.0.2.80',
      // So that it has the metrics of dnstap. Nothing listens there.
      DNSTAP_ENDPOINT: `tcp://${upstream}`,
      ...ports({ DNS_PORT: dns }),
    }),
    processOf('block-page', ops[2], { ...follower, ...ports({ BLOCK_PAGE_PORT: page }) }),
  ];
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one.terminate()));
    rmSync(folder, { recursive: true });
  };
  try {
    await Promise.all(processes.map((one) => one.start()));
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
