import { BLOCK_ADDRESS } from '../jobs.js';
import { peer, responsePolicyZone } from './peer.js';

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
