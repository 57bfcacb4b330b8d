import { BLOCK_ADDRESS } from '../jobs.js';
import { peer } from './peer.js';
import type { ServerSetup } from './server.js';

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
