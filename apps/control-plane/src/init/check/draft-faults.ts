import { unknownBlockPage } from '../../resources/block-pages/block-page-store.js';
import type { AddressFamily } from '../../resources/networks/addresses/address-family.js';
import { IPV4, IPV6 } from '../../resources/networks/addresses/address-family.js';
import { findClashes } from '../../resources/networks/napt/port-ranges.js';
import { masked, type NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { applicationFaults } from '../../resources/profiles/application-faults.js';
import { unknownProfile } from '../../resources/profiles/profile-store.js';
import type { Column } from '../draft/column.js';
import type { Draft } from '../draft/draft.js';
import type { DraftNetworks } from '../draft/draft-networks.js';
import { hashWords, RowIndex } from '../draft/row-index.js';
import { Yielder, forEachRow } from '../../platform/yielder.js';
import type { FaultList } from '../read/fault-list.js';
import { type InitList, locationOf } from '../read/init.dto.js';

/** Checks the submitted configuration as a whole: keys are unique, and references exist (decisions §2). */
export async function findDraftFaults(
  draft: Draft,
  applications: ReadonlyMap<number, string>,
  faults: FaultList,
): Promise<void> {
  const yielder = new Yielder();
  const pages = await indexIds(yielder, draft.blockPages.ids, (row) => {
    const msg = `Block page ${draft.blockPages.ids.at(row)} is a duplicate`;
    faults.add({ loc: locationOf('blockpages', row, 'id'), msg, type: 'duplicate' });
  });
  const profiles = await indexIds(yielder, draft.profiles.ids, (row) => {
    const msg = `Profile ${draft.profiles.ids.at(row)} is a duplicate`;
    faults.add({ loc: locationOf('profiles', row, 'profile', 'id'), msg, type: 'duplicate' });
  });
  await checkProfiles(yielder, draft, pages, applications, faults);
  const checkProfileIds = (list: InitList, ids: Column): Promise<void> =>
    forEachRow(yielder, ids.length, (row) => {
      const id = ids.at(row);
      if (!profiles.has(id)) faults.add(unknownProfile(id, locationOf(list, row, 'profile_id')));
    });
  await checkProfileIds('bw_lists', draft.domainRules.profileIds);
  await checkDomainRules(yielder, draft, faults);
  await checkProfileIds('napts', draft.napts.profileIds);
  await checkNapts(yielder, draft, faults);
  await checkProfileIds('nets', draft.ipv4Networks.profileIds);
  await checkNetworks(yielder, 'nets', IPV4, draft.ipv4Networks, faults);
  await checkProfileIds('nets6', draft.ipv6Networks.profileIds);
  await checkNetworks(yielder, 'nets6', IPV6, draft.ipv6Networks, faults);
}

/** The submitted ids of one kind. */
export interface IdSet {
  has(id: number): boolean;
}

async function indexIds(
  yielder: Yielder,
  ids: Column,
  onDuplicate: (row: number) => void,
): Promise<IdSet> {
  const index = new RowIndex(ids.length);
  const isSame =
    (id: number) =>
    (other: number): boolean =>
      ids.at(other) === id;
  await forEachRow(yielder, ids.length, (row) => {
    const id = ids.at(row);
    if (index.add(row, id, isSame(id)) !== null) onDuplicate(row);
  });
  return { has: (id) => index.find(id, isSame(id)) !== null };
}

async function checkProfiles(
  yielder: Yielder,
  { profiles }: Draft,
  pages: IdSet,
  applications: ReadonlyMap<number, string>,
  faults: FaultList,
): Promise<void> {
  profiles.clearApplicationKeys();
  await forEachRow(yielder, profiles.applications.length, (application) => {
    profiles.addApplicationKey(application);
  });
  await forEachRow(yielder, profiles.ids.length, (row) => {
    const { pageId, applicationRules } = profiles.at(row);
    if (pageId !== null && !pages.has(pageId)) {
      faults.add(unknownBlockPage(pageId, locationOf('profiles', row, 'profile', 'page_id')));
    }
    const place = (i: number): string[] => locationOf('profiles', row, 'apps', String(i), 'app_id');
    faults.add(...applicationFaults(applicationRules, applications, place));
  });
}

/** Marks rules that repeat an earlier one. A domain with both types is a fault (decisions §8). */
async function checkDomainRules(
  yielder: Yielder,
  { domainRules }: Draft,
  faults: FaultList,
): Promise<void> {
  domainRules.clearKeys();
  await forEachRow(yielder, domainRules.hashes.length, (row) => {
    // It was marked when the draft was checked before.
    if (domainRules.isRepeated(row)) return;
    const earlier = domainRules.addKey(row);
    if (earlier === null) return;
    if (domainRules.verdictOf(earlier) === domainRules.verdictOf(row)) {
      domainRules.markRepeated(row);
      return;
    }
    const position = String(domainRules.positionOf(row));
    faults.add({
      loc: locationOf('bw_lists', domainRules.itemOf(row), 'domains', position),
      msg: `The request has this domain of profile ${domainRules.profileIdOf(row)} with the other type too`,
      type: 'duplicate',
    });
  });
}

async function checkNapts(yielder: Yielder, { napts }: Draft, faults: FaultList): Promise<void> {
  // The rows of an address form a linked list from the last one to the first.
  const { addresses } = napts;
  const index = new RowIndex(addresses.length);
  const lastOf = new Int32Array(addresses.length);
  const previous = new Int32Array(addresses.length);
  napts.clearKeys();
  await forEachRow(yielder, addresses.length, (row) => {
    napts.addKey(row);
    const address = addresses.at(row);
    const first = index.add(row, address, (other) => addresses.at(other) === address);
    previous[row] = first === null ? -1 : lastOf[first];
    lastOf[first ?? row] = row;
  });
  const clashing: { row: number; msg: string }[] = [];
  await forEachRow(yielder, addresses.length, (row) => {
    // Each address is checked once, at its first row.
    if (previous[row] !== -1) return;
    const ranges = [];
    for (let one = lastOf[row]; one !== -1; one = previous[one]) {
      ranges.push({ ...napts.at(one), order: one });
    }
    for (const { earlier, later } of findClashes(ranges)) {
      const ports = `${earlier.lowerPort}-${earlier.upperPort}`;
      const msg = `Clashes with ports ${ports} of the same address in the same request`;
      clashing.push({ row: later.order, msg });
    }
  });
  for (const { row, msg } of clashing.sort((a, b) => a.row - b.row)) {
    faults.add({ loc: locationOf('napts', row), msg, type: 'duplicate' });
  }
}

async function checkNetworks<A>(
  yielder: Yielder,
  list: InitList,
  family: AddressFamily<A>,
  networks: DraftNetworks<A>,
  faults: FaultList,
): Promise<void> {
  const count = networks.profileIds.length;
  const same = (a: NetworkRecord<A>, b: NetworkRecord<A>): boolean =>
    a.address === b.address || String(a.address) === String(b.address);
  // Without host bits, networks with the same prefix have the same address.
  let hasHostBits = false;
  await forEachRow(yielder, count, (row) => {
    const record = networks.at(row);
    hasHostBits ||= !same(record, masked(family, record));
  });
  const byPrefix = new RowIndex(hasHostBits ? count : 0);
  const prefixBefore = (row: number): number | null => {
    const prefix = masked(family, networks.at(row));
    const hash = hashWords(networks.hash(prefix.address), prefix.prefixLength);
    return byPrefix.add(row, hash, (other) => {
      const record = networks.at(other);
      const isAsLong = record.prefixLength === prefix.prefixLength;
      return isAsLong && same(masked(family, record), prefix);
    });
  };
  networks.clearKeys();
  await forEachRow(yielder, count, (row) => {
    const sameAddress = networks.addKey(row);
    const samePrefix = hasHostBits ? prefixBefore(row) : null;
    const earlier = sameAddress ?? samePrefix;
    if (earlier === null) return;
    const { address, prefixLength } = networks.at(earlier);
    const what = sameAddress === null ? 'covers exactly the same addresses' : 'has this address';
    const msg = `Network ${family.format(address)}/${prefixLength} in the same request ${what}`;
    faults.add({ loc: locationOf(list, row, 'ip'), msg, type: 'duplicate' });
  });
}
