import { BLOCK_ADDRESS } from '../jobs.js';
import { peer, responsePolicyZone } from './peer.js';

export const bind = peer({
  name: 'BIND',
  debianPackage: 'bind9',
  command: 'named',
  args: () => ['-g', '-n', '1', '-c', 'named.conf'],
  files: ({ port, upstreamPort, folder, blockedDomains }) => ({
    'blocked.rpz': responsePolicyZone(blockedDomains(), BLOCK_ADDRESS),
    'named.conf': [
      'options {',
      `directory "${folder}";`,
      'pid-file none;',
      'session-keyfile none;',
      `listen-on port ${port} { 127.0.0.1; };`,
      'listen-on-v6 { none; };',
      'allow-query { 127.0.0.0/8; };',
      'recursion yes;',
      'dnssec-validation no;',
      'empty-zones-enable no;',
      'max-cache-size 512m;',
      'recursive-clients 8192;',
      `forwarders { 127.0.0.1 port ${upstreamPort}; };`,
      'forward only;',
      'response-policy { zone "blocked.rpz"; } qname-wait-recurse no;',
      '};',
      'zone "blocked.rpz" { type primary; file "blocked.rpz"; };',
      'controls { };',
      'logging { category default { null; }; };',
    ],
  }),
});
