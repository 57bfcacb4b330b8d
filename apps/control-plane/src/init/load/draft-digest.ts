import { Digest, type Entities, type EntityKind, toRow } from '@weir/config-model';
import { type AddressFamily, IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { Draft } from '../draft/draft.js';
import type { DraftNetworks } from '../draft/draft-networks.js';

/** The digest of a draft that has been checked. Schedules and the catalogue are not part of it. */
export function digestOfDraft(draft: Draft): string {
  const digest = new Digest();
  const add = <K extends EntityKind>(kind: K, entity: Entities[K]): void =>
    digest.add(kind, toRow(kind, entity));
  const addNetworks = <A>(family: AddressFamily<A>, networks: DraftNetworks<A>): void => {
    for (let row = 0; row < networks.profileIds.length; row++) {
      add(family.kind, masked(family, networks.at(row)) as never);
    }
  };
  const { blockPages, profiles, domainRules, napts, ipv4Networks, ipv6Networks } = draft;
  for (let row = 0; row < blockPages.ids.length; row++) add('blockPage', blockPages.at(row));
  for (let row = 0; row < profiles.ids.length; row++) add('profile', toProfile(profiles.at(row)));
  for (let row = 0; row < domainRules.hashes.length; row++) {
    if (!domainRules.isRepeated(row)) add('domainRule', domainRules.at(row));
  }
  for (let row = 0; row < napts.addresses.length; row++) add('naptAssignment', napts.at(row));
  addNetworks(IPV4, ipv4Networks);
  addNetworks(IPV6, ipv6Networks);
  return digest.toString();
}
