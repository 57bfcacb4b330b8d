import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import type { Policy } from '@weir/policy';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { inSharedMemory } from './shared-source.js';

/** Gives the policy a catalogue whose only category is secret and lists that name. */
export function withSecretCategory(policy: Policy, name: string): Policy {
  const key = parseHashKey(HASH_KEY_HEX);
  const flags = { purpose: 'legal', mandatory: true, secret: true } as const;
  const category = { id: 31, name: 'Hidden', ...flags, lists: [NameList.of([name], key)] };
  const { image } = compileCatalogue({ categories: [category], applications: [] }, key);
  policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
  return policy;
}
