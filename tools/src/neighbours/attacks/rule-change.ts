import { ManagementClient } from '../../deployment/management-client.js';
import { OTHER_PROFILE } from '../shared/target.js';
import type { Attack } from './attack.js';

const RULES = 10_000;

/** Not an attack: a back office gives another profile ten thousand rules in one call. */
export const ruleChange: Attack = async ({ target, counts }) => {
  const client = new ManagementClient(target.managementPort, target.managementToken);
  const domains = Array.from({ length: RULES }, (_, i) => `d${i}-${target.seed}.rules.example.org`);
  const path = `/profile/${OTHER_PROFILE}/bw_list/batch`;
  const reply = await client.call('POST', path, { type: 'deny', domains });
  if (reply.status === null) counts.add(reply.reason);
  else counts.add(`status ${reply.status}, in force on ${reply.applied}/${reply.total}`);
  client.close();
};
