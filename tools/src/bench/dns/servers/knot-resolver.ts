import { BLOCK_ADDRESS } from '../jobs.js';
import { peer, responsePolicyZone } from './peer.js';

export const knotResolver = peer({
  name: 'knot-resolver',
  debianPackage: 'knot-resolver',
  command: 'kresd',
  args: ({ folder }) => ['--noninteractive', '-c', 'kresd.conf', folder],
  files: ({ port, upstreamPort, folder, blockedDomains }) => ({
    'blocked.rpz': responsePolicyZone(blockedDomains(), BLOCK_ADDRESS),
    'kresd.conf': [
      "log_level('err')",
      `net.listen('127.0.0.1', ${port}, { kind = 'dns' })`,
      "modules.unload('ta_sentinel')",
      "modules.unload('ta_signal_query')",
      "modules.unload('priming')",
      'cache.size = 200 * MB',
      `policy.add(policy.rpz(policy.DENY, '${folder}/blocked.rpz'))`,
      `policy.add(policy.all(policy.STUB('127.0.0.1@${upstreamPort}')))`,
    ],
  }),
});
