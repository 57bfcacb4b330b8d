import { ManagementClient } from '../../deployment/management-client.js';
import { OTHER_PROFILE } from '../shared/target.js';
import type { NamedAttack } from './attack.js';
import { HTTPS_ATTACKS } from './https-attacks.js';
import { PACKET_ATTACKS } from './packet-attacks.js';
import { STRANGER_ATTACKS } from './stranger-attacks.js';
import { TCP_ATTACKS } from './tcp-attacks.js';
import { TLS_ATTACKS } from './tls-attacks.js';
import { UPSTREAM_ATTACKS } from './upstream-attacks.js';

/** What a subscriber can do, in this order. */
export const ATTACKS: readonly NamedAttack[] = [
  ...UPSTREAM_ATTACKS,
  ...TCP_ATTACKS,
  ...TLS_ATTACKS,
  ...HTTPS_ATTACKS,
  ...STRANGER_ATTACKS,
  ...PACKET_ATTACKS,
];

const RULES = 10_000;

/** What others do. It is measured in the same way, but only when it is asked for by name. */
export const OTHER_LOADS: readonly NamedAttack[] = [
  {
    name: 'rule-change',
    description: '10,000 rules in one call of the management API',
    run: async ({ target, counts }) => {
      const client = new ManagementClient(target.managementPort, target.managementToken);
      const domains = Array.from(
        { length: RULES },
        (_, i) => `d${i}-${target.seed}.rules.example.org`,
      );
      const path = `/profile/${OTHER_PROFILE}/bw_list/batch`;
      const reply = await client.call('POST', path, { type: 'deny', domains });
      if (reply.status === null) counts.add(reply.reason);
      else counts.add(`status ${reply.status}, in force on ${reply.applied}/${reply.total}`);
      client.close();
    },
  },
];
