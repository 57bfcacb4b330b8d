import { Digest, type Entities, type EntityKind, toRow } from '@weir/config-model';
import { forEachRow, Yielder } from '../../platform/yielder.js';
import {
  type AddressFamily,
  IPV4,
  IPV6,
} from '../../resources/networks/addresses/address-family.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { Draft } from '../draft/draft.js';
import type { DraftNetworks } from '../draft/draft-networks.js';

/** The digest of a draft that has been checked. Schedules and the catalogue are not part of it. */
export async function digestOfDraft(draft: Draft): Promise<string> {
  const digest = new Digest();
  const yielder = new Yielder();
  const add = <K extends EntityKind>(kind: K, entity: Entities[K]): void =>
    digest.add(kind, toRow(kind, entity));
  const addNetworks = <A>(family: AddressFamily<A>, networks: DraftNetworks<A>): Promise<void> =>
    forEachRow(yielder, networks.profileIds.length, (row) => {
      add(family.kind, masked(family, networks.at(row)) as never);
    });
  const { blockPages, profiles, domainRules, napts, ipv4Networks, ipv6Networks } = draft;
  await forEachRow(yielder, blockPages.ids.length, (row) => add('blockPage', blockPages.at(row)));
  await forEachRow(yielder, profiles.ids.length, (row) => {
    add('profile', toProfile(profiles.at(row)));
  });
  await forEachRow(yielder, domainRules.hashes.length, (row) => {
    if (!domainRules.isRepeated(row)) add('domainRule', domainRules.at(row));
  });
  await forEachRow(yielder, napts.addresses.length, (row) => add('naptAssignment', napts.at(row)));
  await addNetworks(IPV4, ipv4Networks);
  await addNetworks(IPV6, ipv6Networks);
  return digest.toString();
}
