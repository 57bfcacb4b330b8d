import { BLOCK_ADDRESS } from '../jobs.js';
import { peer, type ServerSetup } from './server.js';

type StreamSetup = Pick<ServerSetup, 'transport' | 'tlsPort' | 'certificate'>;

export const dnsdist = peer({
  name: 'dnsdist',
  debianPackage: 'dnsdist',
  command: 'dnsdist',
  args: () => ['-C', 'dnsdist.conf', '--supervised', '--disable-syslog'],
  files: ({ port, upstreamPort, folder, blockedDomains, ...setup }) => ({
    'blocked.txt': blockedDomains(),
    'dnsdist.conf': [
      `setLocal('127.0.0.1:${port}')`,
      ...dnsdistStreams(setup),
      "setACL({'127.0.0.0/8'})",
      "setSecurityPollSuffix('')",
      `newServer({address='127.0.0.1:${upstreamPort}', healthCheckMode='up'})`,
      "pool = getPool('')",
      'pool:setCache(newPacketCache(500000, {maxTTL=86400}))',
      'blocked = newSuffixMatchNode()',
      `for name in io.lines('${folder}/blocked.txt') do blocked:add(newDNSName(name)) end`,
      `addAction(SuffixMatchNodeRule(blocked), SpoofAction('${BLOCK_ADDRESS}'))`,
    ],
  }),
});

/** One thread for all connections, as for UDP. */
function dnsdistStreams({ transport, tlsPort, certificate }: StreamSetup): readonly string[] {
  const listener = `'127.0.0.1:${tlsPort}', '${certificate.certFile}', '${certificate.keyFile}'`;
  const listeners = {
    udp: [],
    tcp: [],
    dot: [`addTLSLocal(${listener})`],
    doh: [`addDOHLocal(${listener}, '/dns-query')`],
  };
  return ['setMaxTCPClientThreads(1)', ...listeners[transport]];
}

export const unbound = peer({
  name: 'unbound',
  debianPackage: 'unbound',
  command: 'unbound',
  args: () => ['-d', '-c', 'unbound.conf'],
  files: (setup) => ({ 'unbound.conf': settings(setup) }),
});

function* settings(setup: ServerSetup): Generator<string> {
  const { port, upstreamPort, folder, blockedDomains } = setup;
  yield* [
    'server:',
    `interface: 127.0.0.1@${port}`,
    'access-control: 127.0.0.0/8 allow',
    'num-threads: 1',
    'username: ""',
    'chroot: ""',
    `directory: "${folder}"`,
    'pidfile: ""',
    'use-syslog: no',
    'verbosity: 0',
    'do-not-query-localhost: no',
    'do-ip6: no',
    'module-config: "iterator"',
    'so-rcvbuf: 4m',
    'so-sndbuf: 4m',
    'msg-cache-size: 64m',
    'rrset-cache-size: 128m',
    'outgoing-range: 8192',
    'num-queries-per-thread: 4096',
    ...unboundStreams(setup),
  ];
  for (const domain of blockedDomains()) {
    yield `local-zone: "${domain}." redirect`;
    yield `local-data: "${domain}. 60 A ${BLOCK_ADDRESS}"`;
  }
  yield* ['forward-zone:', 'name: "."', `forward-addr: 127.0.0.1@${upstreamPort}`];
  yield* ['remote-control:', 'control-enable: no'];
}

/** More connections than its default of ten, which also closes idle ones early when half are in use. */
function unboundStreams({ transport, tlsPort, certificate }: StreamSetup): readonly string[] {
  if (transport === 'udp') return [];
  const connections = 'incoming-num-tcp: 128';
  if (transport === 'tcp') return [connections];
  return [
    connections,
    `interface: 127.0.0.1@${tlsPort}`,
    `${transport === 'dot' ? 'tls-port' : 'https-port'}: ${tlsPort}`,
    `tls-service-pem: "${certificate.certFile}"`,
    `tls-service-key: "${certificate.keyFile}"`,
  ];
}
