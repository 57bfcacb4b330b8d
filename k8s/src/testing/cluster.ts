import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../objects/testing/kubernetes-object.js';
import { helmProgram } from '@weir/tools/release/helm-program';
import { HELM_ENVIRONMENT, parseObjects, type RenderOptions, templateArguments } from './render.js';

const resource = (kind: string): object => {
  const singularName = kind.toLowerCase();
  return { name: `${singularName}s`, singularName, namespaced: true, kind, verbs: ['get'] };
};
const APPS = { groupVersion: 'apps/v1', version: 'v1' };

/** What the API of Kubernetes says of itself, as far as `lookup` asks for a Secret or a StatefulSet. */
const DISCOVERY: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '35', gitVersion: 'v1.35.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [{ name: 'apps', versions: [APPS], preferredVersion: APPS }],
  },
  '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [resource('Secret')] },
  '/apis/apps/v1': {
    kind: 'APIResourceList',
    groupVersion: 'apps/v1',
    resources: [resource('StatefulSet')],
  },
};

/**
 * The objects of a release in a cluster that has `existing` ones: Secrets and StatefulSets. Helm asks for them over
 * HTTP. It is Helm 3: Helm 4 would also ask for every kind that it renders.
 */
export async function renderInCluster(
  options: RenderOptions,
  existing: readonly KubernetesObject[],
): Promise<readonly KubernetesObject[]> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const found = existing.find(({ kind, metadata: { name, namespace } }) =>
      pathname.endsWith(`/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`),
    );
    answer(response, DISCOVERY[pathname] ?? found);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const template = promisify(execFile)(
    helmProgram(3),
    [
      ...templateArguments(options),
      '--dry-run=server',
      `--kube-apiserver=http://127.0.0.1:${port}`,
    ],
    { env: HELM_ENVIRONMENT },
  );
  template.child.stdin?.end(JSON.stringify(options.values));
  try {
    return parseObjects((await template).stdout);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function answer(response: ServerResponse, found: object | undefined): void {
  const missing = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'NotFound',
    code: 404,
  };
  response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(found ?? missing));
}
