import type { Deployment } from '../../../deployment/deployment.js';
import { startResolver, withDeployment } from '../../deployment.js';
import { jsonItems } from '../../init-body.js';
import { BLOCK_ADDRESS } from '../jobs.js';
import type { Server, ServerSetup } from './server.js';

/** Runs `work` with a control plane whose only profile, for 127.0.0.0/10, blocks the domains. */
export function withControlPlane<T>(
  blockedDomains: Iterable<string>,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  return withDeployment({}, async (deployment, client) => {
    await client.upload('POST', '/init/', initBody(blockedDomains));
    return work(deployment);
  });
}

function* initBody(blockedDomains: Iterable<string>): Generator<string> {
  yield '{"blockpages":[{"id":1,"type":1}],"napts":[],"nets6":[]';
  yield ',"nets":[{"ip":"127.0.0.0","prefix_len":10,"profile_id":1}]';
  yield ',"profiles":[{"profile":{"id":1,"page_id":1},"cat_ids":[],"apps":[]}]';
  yield ',"bw_lists":[{"profile_id":1,"type":"deny","domains":[';
  yield* jsonItems(blockedDomains);
  yield ']}]}';
}

/**
 * A resolver of this repository with a number of lanes (`RESOLVER_THREADS`), otherwise as it is shipped. Only the
 * limits for one client are off.
 */
export function weir(deployment: Deployment, name: string, lanes: number): Server {
  return {
    name,
    debianPackage: null,
    isInstalled: () => true,
    // Its configuration comes from the control plane.
    prepare: () => Promise.resolve(),
    start: (setup) =>
      startResolver(
        { name, ...setup },
        {
          DOMAIN_HASH_KEY: deployment.secrets.hashKey,
          DEPLOYMENT_ID: deployment.deploymentId,
          REDIS_URL: deployment.redisUrl,
          FEED_URL: deployment.feedUrl,
          FEED_TOKENS: deployment.secrets.feedToken,
          RESOLVER_THREADS: String(lanes),
          ...tlsVariables(setup),
          BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
          // dnsperf is one client. A real one has a share.
          CLIENT_QUERY_RATE: '0',
          CLIENT_TLS_HANDSHAKE_RATE: '0',
          CLIENT_UDP_BYTE_RATE: String(2 ** 30),
          CLIENT_UPSTREAM_QUERIES: '8192',
          CLIENT_WAITING_QUERIES: '16384',
        },
      ),
  };
}

function tlsVariables({ transport, tlsPort, certificate }: ServerSetup): Record<string, string> {
  if (transport !== 'dot' && transport !== 'doh') return {};
  return {
    [transport === 'dot' ? 'DNS_TLS_PORT' : 'DNS_HTTPS_PORT']: String(tlsPort),
    DNS_TLS_CERT: certificate.certFile,
    DNS_TLS_KEY: certificate.keyFile,
  };
}
