import { mkdirSync } from 'node:fs';
import { spawnWeir } from '../../../services/weir.js';
import { startServices } from '../../services.js';
import { BLOCK_ADDRESS } from '../jobs.js';
import type { Server } from './server.js';

/** A control plane from which resolvers of a benchmark get their configuration. */
export interface WeirControlPlane {
  readonly feedUrl: string;
  readonly feedToken: string;
  readonly redisUrl: string;
  stop(): Promise<void>;
}

/** Starts a control plane whose only profile, for 127.0.0.0/10, blocks the domains. */
export async function startWeirControlPlane(
  root: string,
  folder: string,
  blockedDomains: Iterable<string>,
): Promise<WeirControlPlane> {
  mkdirSync(folder);
  const { controlPlane, client, redisUrl, stop } = await startServices(root, folder);
  const { status } = await client.send('POST', '/init/', initBody(blockedDomains));
  if (status >= 300) throw new Error(`POST /init/ was answered ${status}`);
  return {
    feedUrl: controlPlane.feedUrl,
    feedToken: controlPlane.token,
    redisUrl,
    stop,
  };
}

const PIECE_DOMAINS = 10_000;

function* initBody(blockedDomains: Iterable<string>): Generator<string> {
  yield '{"blockpages":[{"id":1,"type":1}],"napts":[],"nets6":[]';
  yield ',"nets":[{"ip":"127.0.0.0","prefix_len":10,"profile_id":1}]';
  yield ',"profiles":[{"profile":{"id":1,"page_id":1},"cat_ids":[],"apps":[]}]';
  yield ',"bw_lists":[{"profile_id":1,"type":"deny","domains":[';
  let piece: string[] = [];
  let separator = '';
  for (const domain of blockedDomains) {
    piece.push(JSON.stringify(domain));
    if (piece.length < PIECE_DOMAINS) continue;
    yield separator + piece.join(',');
    piece = [];
    separator = ',';
  }
  if (piece.length > 0) yield separator + piece.join(',');
  yield ']}]}';
}

/**
 * A resolver of this repository with a number of lanes (`RESOLVER_THREADS`), otherwise as it is shipped. Only the
 * limits for one client are off.
 */
export function weir(
  root: string,
  controlPlane: WeirControlPlane,
  name: string,
  lanes: number,
): Server {
  return {
    name,
    debianPackage: null,
    isInstalled: () => true,
    // Its configuration comes from the control plane.
    prepare: () => Promise.resolve(),
    start: async ({ folder, port, upstreamPort, prefix }) => {
      const { child, ready } = await spawnWeir('resolver', {
        root,
        folder,
        prefix,
        variables: {
          REDIS_URL: controlPlane.redisUrl,
          FEED_URL: controlPlane.feedUrl,
          FEED_TOKENS: controlPlane.feedToken,
          RESOLVER_THREADS: String(lanes),
          DNS_HOST: '127.0.0.1',
          DNS_PORT: String(port),
          UPSTREAMS: `127.0.0.1:${upstreamPort}`,
          BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
          // dnsperf is one client. A real one has a share.
          CLIENT_QUERY_RATE: '0',
          CLIENT_UDP_BYTE_RATE: String(2 ** 30),
          CLIENT_UPSTREAM_QUERIES: '8192',
          CLIENT_WAITING_QUERIES: '16384',
        },
      });
      await ready();
      return child;
    },
  };
}
