import { join } from 'node:path';
import { inFolder } from '../command.js';
import { Deployment, type DeploymentOptions } from '../deployment/deployment.js';
import type { Child } from '../services/child.js';
import { ROOT } from '../services/files.js';
import { freePort } from '../services/ports.js';
import { WeirProcess } from '../services/weir-process.js';
import type { Answer, ManagementClient } from '../deployment/management-client.js';

/** A configuration of full size comes over the feed within this time. */
const READY_DEADLINE_MS = 600_000;

/** Runs `work` with a deployment of its own: by default one control plane, no resolver, the default catalogue. */
export function withDeployment<T>(
  options: Partial<DeploymentOptions>,
  work: (deployment: Deployment, client: ManagementClient) => Promise<T>,
): Promise<T> {
  return inFolder('bench', async (folder) => {
    await using deployment = await Deployment.create({
      ...{ folder, replicas: 1, resolvers: 0, withoutProxies: true },
      variables: { LOG_LEVEL: 'warn' },
      replicaVariables: () => ({ CATALOGUE: join(ROOT, 'catalogue') }),
      ...options,
    });
    await deployment.start();
    return await work(deployment, deployment.clients[0]);
  });
}

/** The nth change of a profile, each time to another page. Pages 1 and 2 exist. */
export function nextPage(client: ManagementClient, profile: number, n: number): Promise<Answer> {
  return client.change('PATCH', `/profiles/${profile}`, { profile: { page_id: (n % 2) + 1 } });
}

/** What a DNS server outside of a deployment is started with. */
export interface ServerOptions {
  /** An empty folder. */
  readonly folder: string;
  /** UDP and TCP port on 127.0.0.1. */
  readonly port: number;
  /** UDP port of the upstream on 127.0.0.1. */
  readonly upstreamPort: number;
  /** Command in front of the server's (`taskset …`). */
  readonly prefix: readonly string[];
}

/** Starts a resolver, and waits until it is ready. @param variables additional ones: those of its feed at least */
export async function startResolver(
  { folder, port, upstreamPort, prefix }: ServerOptions,
  variables: Readonly<Record<string, string>>,
): Promise<Child> {
  const resolver = new WeirProcess({
    ...{ name: 'resolver', app: 'resolver', root: ROOT, prefix, opsPort: await freePort() },
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
  await resolver.start().catch(async (error: unknown) => {
    await resolver.kill();
    throw error;
  });
  return resolver.running;
}
