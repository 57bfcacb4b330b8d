import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../objects/testing/kubernetes-object.js';
import { helmProgram } from '@weir/tools/release/helm-program';
import { HELM_ENVIRONMENT, parseObjects, type RenderOptions, templateArguments } from './render.js';

/** What the API of Kubernetes says of itself, as far as `lookup` of a Secret asks. */
const DISCOVERY: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '35', gitVersion: 'v1.35.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'secrets', singularName: 'secret', namespaced: true, kind: 'Secret', verbs: ['get'] },
    ],
  },
};

/**
 * The objects of a release in a cluster that has `existing` Secrets. Helm asks for them over HTTP. It is Helm 3: Helm 4
 * would also ask for every kind that it renders.
 */
export async function renderInCluster(
  options: RenderOptions,
  existing: readonly KubernetesObject[],
): Promise<readonly KubernetesObject[]> {
  const secrets = existing.filter(({ kind }) => kind === 'Secret');
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const secret = secrets.find(({ metadata: { name, namespace } }) =>
      pathname.endsWith(`/namespaces/${namespace}/secrets/${name}`),
    );
    answer(response, DISCOVERY[pathname] ?? secret);
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
