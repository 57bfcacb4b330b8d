import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Deployment, type DeploymentOptions } from '../deployment/deployment.js';
import type { Child } from '../services/child.js';
import { freePort } from '../services/ports.js';
import { WeirProcess } from '../services/weir-process.js';
import type { Answer, ManagementClient } from '../deployment/management-client.js';

/** A configuration of full size comes over the feed within this time. */
const READY_DEADLINE_MS = 600_000;

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `work` with a deployment of its own: by default one control plane, no resolver, the default catalogue. */
export async function withDeployment<T>(
  options: Partial<DeploymentOptions>,
  work: (deployment: Deployment, client: ManagementClient) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const deployment = await Deployment.create({
    ...{ folder, replicas: 1, resolvers: 0, withoutProxies: true },
    variables: { LOG_LEVEL: 'warn' },
    ...options,
    replicaVariables: (replica) => ({
      CATALOGUE: join(ROOT, 'catalogue'),
      ...options.replicaVariables?.(replica),
    }),
  });
  try {
    await deployment.start();
    const [client] = deployment.clients;
    if (client === undefined) throw new Error('no control plane');
    return await work(deployment, client);
  } finally {
    await deployment.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The nth change of a profile, each time to another page. Pages 1 and 2 exist. */
export function nextPage(client: ManagementClient, profile: number, n: number): Promise<Answer> {
  return client.change('PATCH', `/profiles/${profile}`, { profile: { page_id: (n % 2) + 1 } });
}

/** A resolver outside of a deployment, which is measured. */
export interface MeasuredResolver {
  readonly name: string;
  /** Of its log. */
  readonly folder: string;
  /** Of DNS, on 127.0.0.1. */
  readonly port: number;
  readonly upstreamPort: number;
  /** Command in front of the resolver's (`taskset …`). */
  readonly prefix: readonly string[];
}

/** Starts it, and waits until it is ready. @param variables additional ones: those of its feed at least */
export async function startResolver(
  { name, folder, port, upstreamPort, prefix }: MeasuredResolver,
  variables: Readonly<Record<string, string>>,
): Promise<Child> {
  const resolver = new WeirProcess({
    ...{ name, app: 'resolver', root: ROOT, prefix, opsPort: await freePort() },
    logFile: join(folder, 'log'),
    readyWithinMs: READY_DEADLINE_MS,
    // It is stopped by itself.
    onUnexpectedExit: () => undefined,
    environment: () => ({
      LOG_LEVEL: 'warn',
      DNS_HOST: '127.0.0.1',
      DNS_PORT: String(port),
      UPSTREAMS: `127.0.0.1:${upstreamPort}`,
      ...variables,
    }),
  });
  try {
    await resolver.start();
  } catch (error) {
    await resolver.kill();
    throw error;
  }
  return resolver.running;
}
