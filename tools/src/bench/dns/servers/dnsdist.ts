import { BLOCK_ADDRESS } from '../jobs.js';
import { peer } from './peer.js';

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
