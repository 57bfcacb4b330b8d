import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Deployment } from '../deployment/deployment.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { Random } from '../deployment/random.js';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = 200;

/** Runs `work` on its own deployment: one control plane, block pages 1 to 200. @param variables of the control plane */
export async function withDeployment<T>(
  resolvers: number,
  work: (deployment: Deployment, client: ManagementClient) => Promise<T>,
  variables: Readonly<Record<string, string>> = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const deployment = await Deployment.create({
    root: ROOT,
    folder,
    replicas: 1,
    resolvers,
    replicaVariables: () => variables,
    random: new Random(1),
    withoutProxies: true,
    onUnexpectedExit: (explanation) => {
      throw new Error(explanation);
    },
  });
  try {
    await deployment.start();
    const [client] = deployment.clients;
    if (client === undefined) throw new Error('no control plane');
    for (let id = 1; id <= PAGES; id++)
      await change(client, 'POST', '/blockpage/', { id, type: 1 });
    return await work(deployment, client);
  } finally {
    await deployment.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes one change, which must succeed. @returns on how many of how many resolvers it is in force. */
export async function change(
  client: ManagementClient,
  method: string,
  path: string,
  body: unknown,
): Promise<{ applied: number; total: number }> {
  const reply = await client.call(method, path, body);
  if (reply.status === null) throw new Error(reply.reason);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
  return { applied: reply.applied ?? 0, total: reply.total ?? 0 };
}

/** The nth change of a profile, each time to another page. */
export function nextPage(
  client: ManagementClient,
  profile: number,
  n: number,
): ReturnType<typeof change> {
  return change(client, 'PATCH', `/profiles/${profile}`, { profile: { page_id: (n % PAGES) + 1 } });
}
