import { spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Deployment } from '../../deployment/deployment.js';
import type { Certificate } from '../../services/certificate.js';
import { type Child, startChild } from '../../services/child.js';
import { type ServerOptions, startResolver, withDeployment } from '../deployment.js';
import { inPieces, jsonItems } from '../init-body.js';
import { BLOCK_ADDRESS, type Job, type Transport } from './jobs.js';

/** What a process of a server is started with. */
export interface ServerSetup extends ServerOptions {
  /** It blocks the domains of the job with `BLOCK_ADDRESS`, with all names below them. */
  readonly job: Job;
  /** TCP port on 127.0.0.1 for the transports `dot` and `doh`. */
  readonly tlsPort: number;
  readonly certificate: Certificate;
}

/** A DNS server of the comparison. */
export interface Server {
  readonly name: string;
  /** Starts a process with one thread for DNS. It may not answer yet when this resolves. */
  start(setup: ServerSetup): Promise<Child>;
}

const SERVER_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Whether another server is installed: its program and its Debian package have its name. */
export function isInstalled({ name }: Server): boolean {
  return spawnSync('which', [name], { env: { PATH: SERVER_PATH } }).status === 0;
}

/** @param files names of files in the folder, with their lines */
function peer(
  name: string,
  args: readonly string[],
  files: (setup: ServerSetup) => Readonly<Record<string, Iterable<string>>>,
): Server {
  return {
    name,
    start: async (setup) => {
      const { folder: cwd, prefix } = setup;
      for (const [file, lines] of Object.entries(files(setup))) {
        await writeLines(join(cwd, file), lines);
      }
      const [env, logFile] = [{ PATH: SERVER_PATH }, join(cwd, 'log')];
      return startChild({ command: name, args, env, cwd, logFile, prefix });
    },
  };
}

/** Writes lines to a file, however many. */
export async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  const ended = Iterator.from(lines).map((line) => `${line}\n`);
  await pipeline(Readable.from(inPieces(ended)), createWriteStream(path));
}

export const dnsdist = peer(
  'dnsdist',
  ['-C', 'dnsdist.conf', '--supervised', '--disable-syslog'],
  ({ port, upstreamPort, folder, job, tlsPort, certificate }) => {
    const tls = `'127.0.0.1:${tlsPort}', '${certificate.certFile}', '${certificate.keyFile}'`;
    const listeners = { dot: `addTLSLocal(${tls})`, doh: `addDOHLocal(${tls}, '/dns-query')` };
    const { transport } = job.load;
    return {
      'blocked.txt': job.blockedDomains(),
      'dnsdist.conf': [
        `setLocal('127.0.0.1:${port}')`,
        // One thread for all connections, as for UDP.
        'setMaxTCPClientThreads(1)',
        ...(isTls(transport) ? [listeners[transport]] : []),
        "setACL({'127.0.0.0/8'})",
        "setSecurityPollSuffix('')",
        `newServer({address='127.0.0.1:${upstreamPort}', healthCheckMode='up'})`,
        "pool = getPool('')",
        'pool:setCache(newPacketCache(500000, {maxTTL=86400}))',
        'blocked = newSuffixMatchNode()',
        `for name in io.lines('${folder}/blocked.txt') do blocked:add(newDNSName(name)) end`,
        `addAction(SuffixMatchNodeRule(blocked), SpoofAction('${BLOCK_ADDRESS}'))`,
      ],
    };
  },
);

const isTls = (transport: Transport): transport is 'dot' | 'doh' =>
  transport === 'dot' || transport === 'doh';

export const unbound = peer('unbound', ['-d', '-c', 'unbound.conf'], (setup) => ({
  'unbound.conf': settings(setup),
}));

function* settings(setup: ServerSetup): Generator<string> {
  const { port, upstreamPort, folder, job, tlsPort, certificate } = setup;
  yield `server:
interface: 127.0.0.1@${port}
access-control: 127.0.0.0/8 allow
num-threads: 1
username: ""
chroot: ""
directory: "${folder}"
pidfile: ""
use-syslog: no
verbosity: 0
do-not-query-localhost: no
do-ip6: no
module-config: "iterator"
so-rcvbuf: 4m
so-sndbuf: 4m
msg-cache-size: 64m
rrset-cache-size: 128m
outgoing-range: 8192
num-queries-per-thread: 4096`;
  const { transport } = job.load;
  // More connections than its default of ten, which also closes idle ones early when half are in use.
  if (transport !== 'udp') yield 'incoming-num-tcp: 128';
  if (isTls(transport)) {
    yield `interface: 127.0.0.1@${tlsPort}
${transport === 'dot' ? 'tls-port' : 'https-port'}: ${tlsPort}
tls-service-pem: "${certificate.certFile}"
tls-service-key: "${certificate.keyFile}"`;
  }
  for (const domain of job.blockedDomains()) {
    yield `local-zone: "${domain}." redirect`;
    yield `local-data: "${domain}. 60 A ${BLOCK_ADDRESS}"`;
  }
  yield `forward-zone:
name: "."
forward-addr: 127.0.0.1@${upstreamPort}
remote-control:
control-enable: no`;
}

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
    start: (setup) =>
      startResolver(setup, {
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
      }),
  };
}

function tlsVariables({ job, tlsPort, certificate }: ServerSetup): Record<string, string> {
  const { transport } = job.load;
  if (!isTls(transport)) return {};
  return {
    [transport === 'dot' ? 'DNS_TLS_PORT' : 'DNS_HTTPS_PORT']: String(tlsPort),
    DNS_TLS_CERT: certificate.certFile,
    DNS_TLS_KEY: certificate.keyFile,
  };
}
