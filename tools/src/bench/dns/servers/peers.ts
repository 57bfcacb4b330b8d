import { BLOCK_ADDRESS } from '../jobs.js';
import { peer, responsePolicyZone, type ServerSetup } from './server.js';

export const dnsdist = peer({
  name: 'dnsdist',
  debianPackage: 'dnsdist',
  command: 'dnsdist',
  args: () => ['-C', 'dnsdist.conf', '--supervised', '--disable-syslog'],
  files: ({ port, upstreamPort, folder, blockedDomains }) => ({
    'blocked.txt': blockedDomains(),
    'dnsdist.conf': [
      `setLocal('127.0.0.1:${port}')`,
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

export const powerdnsRecursor = peer({
  name: 'PowerDNS Recursor',
  debianPackage: 'pdns-recursor',
  command: 'pdns_recursor',
  args: ({ folder }) => [`--config-dir=${folder}`],
  files: ({ port, upstreamPort, folder, blockedDomains }) => ({
    'blocked.rpz': responsePolicyZone(blockedDomains(), BLOCK_ADDRESS),
    'rpz.lua': [`rpzFile('${folder}/blocked.rpz', {policyName='blocked'})`],
    'recursor.conf': [
      'daemon=no',
      'disable-syslog=yes',
      'quiet=yes',
      'loglevel=3',
      `local-address=127.0.0.1:${port}`,
      'allow-from=127.0.0.0/8',
      `socket-dir=${folder}`,
      'threads=1',
      'pdns-distributes-queries=no',
      'dnssec=off',
      'dont-query=',
      'max-mthreads=8192',
      'security-poll-suffix=',
      `lua-config-file=${folder}/rpz.lua`,
      `forward-zones-recurse=.=127.0.0.1:${upstreamPort}`,
    ],
  }),
});

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
  ];
  for (const domain of blockedDomains()) {
    yield `local-zone: "${domain}." redirect`;
    yield `local-data: "${domain}. 60 A ${BLOCK_ADDRESS}"`;
  }
  yield* ['forward-zone:', 'name: "."', `forward-addr: 127.0.0.1@${upstreamPort}`];
  yield* ['remote-control:', 'control-enable: no'];
}
