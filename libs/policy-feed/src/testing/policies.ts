import {
  type Entities,
  type EntityKind,
  type Profile,
  type PutOperation,
  RuleVerdict,
} from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { Policy } from '@weir/policy';

export const HASH_KEY_HEX = '000102030405060708090a0b0c0d0e0f';
const HASH_KEY = parseHashKey(HASH_KEY_HEX);

export function put<K extends EntityKind>(kind: K, entity: Entities[K]): PutOperation {
  return { type: 'put', kind, entity } as PutOperation;
}

export function profile(id: number, fields: Partial<Profile> = {}): PutOperation {
  return put('profile', {
    id,
    pageId: null,
    whiteListOnly: false,
    emptyDnsAnswer: false,
    appawarePriorityOverBwlists: false,
    categoryIds: [],
    applicationRules: [],
    ...fields,
  });
}

export function domainRule(
  profileId: number,
  type: 'allow' | 'deny',
  domain: string,
): PutOperation {
  const domainHash = hashDomain(domain, HASH_KEY);
  return put('domainRule', { profileId, domainHash, verdict: RuleVerdict[type] });
}

/** Attaches 127.0.0.1 to the profile. */
export function loopback(profileId: number): PutOperation {
  return put('ipv4Network', { address: 0x7f00_0001, prefixLength: 32, profileId });
}

export function policyOf(...operations: readonly PutOperation[]): Policy {
  const policy = new Policy({ timeZone: 'UTC' });
  for (const operation of operations) policy.put(operation);
  policy.setRevision(1);
  return policy;
}
