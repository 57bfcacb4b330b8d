import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Deployment, type DeploymentOptions } from '../deployment/deployment.js';
import type { Answer, ManagementClient } from '../deployment/management-client.js';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `work` with a deployment of its own: by default one control plane, no resolver, the default catalogue. */
export async function withDeployment<T>(
  options: Partial<DeploymentOptions>,
  work: (deployment: Deployment, client: ManagementClient) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const { root = ROOT } = options;
  const deployment = await Deployment.create({
    ...{ root, folder, replicas: 1, resolvers: 0, withoutProxies: true },
    variables: { LOG_LEVEL: 'warn' },
    ...options,
    replicaVariables: (replica) => ({
      CATALOGUE: join(root, 'catalogue'),
      CATALOGUE_INTERVAL_MS: '20000',
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
