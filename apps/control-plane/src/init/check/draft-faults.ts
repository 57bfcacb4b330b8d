import { toKeyRow } from '@weir/config-model';
import type { FaultList } from '../../http/validation/fault.js';
import { unknownBlockPage } from '../../resources/block-pages/block-page-store.js';
import { type AddressFamily, IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { findClashes } from '../../resources/networks/napt/port-ranges.js';
import { masked, type NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { applicationFaults } from '../../resources/profiles/profile.dto.js';
import { unknownProfile } from '../../resources/profiles/profile-store.js';
import { Column, KeyIndex } from '../draft/columns.js';
import type { Draft } from '../draft/draft.js';
import type { DraftTable } from '../draft/draft-table.js';
import { type InitList, locationOf } from '../read/init.dto.js';

/** Checks the submitted configuration as a whole: keys are unique, and references exist (decisions §2). */
export function findDraftFaults(
  draft: Draft,
  applications: ReadonlyMap<number, string>,
  faults: FaultList,
): void {
  const { blockPages, profiles } = draft;
  blockPages.keys.fill(blockPages.count, (row) => {
    const msg = `Block page ${blockPages.at(row).id} is a duplicate`;
    faults.add({ loc: locationOf('blockpages', row, 'id'), msg, type: 'duplicate' });
  });
  profiles.keys.fill(profiles.count, (row) => {
    const msg = `Profile ${profiles.at(row).id} is a duplicate`;
    faults.add({ loc: locationOf('profiles', row, 'profile', 'id'), msg, type: 'duplicate' });
  });
  checkProfiles(draft, applications, faults);
  const checkProfileIds = (list: InitList, ids: Column): void => {
    for (let row = 0; row < ids.length; row++) {
      const id = ids.at(row);
      if (profiles.keys.find(id) === null)
        faults.add(unknownProfile(id, locationOf(list, row, 'profile_id')));
    }
  };
  const { domainRules, napts, ipv4Networks, ipv6Networks } = draft;
  checkProfileIds('bw_lists', domainRules.itemProfiles);
  checkDomainRules(draft, faults);
  checkProfileIds('napts', napts.column('profile_id'));
  checkNapts(draft, faults);
  checkProfileIds('nets', ipv4Networks.column('profile_id'));
  checkNetworks('nets', IPV4, ipv4Networks, faults);
  checkProfileIds('nets6', ipv6Networks.column('profile_id'));
  checkNetworks('nets6', IPV6, ipv6Networks, faults);
}

function checkProfiles(
  { blockPages, profiles }: Draft,
  applications: ReadonlyMap<number, string>,
  faults: FaultList,
): void {
  profiles.applicationRules.keys.fill(profiles.applicationRules.count);
  for (let row = 0; row < profiles.count; row++) {
    const pageId = profiles.pageIdAt(row);
    if (pageId !== null && blockPages.keys.find(pageId) === null) {
      faults.add(unknownBlockPage(pageId, locationOf('profiles', row, 'profile', 'page_id')));
    }
    const place = (i: number): string[] => locationOf('profiles', row, 'apps', String(i), 'app_id');
    faults.add(...applicationFaults(profiles.rulesAt(row), applications, place));
  }
}

/** Marks rules that repeat an earlier one. A domain with both types is a fault (decisions §8). */
function checkDomainRules({ domainRules }: Draft, faults: FaultList): void {
  const { profileIds, verdicts } = domainRules;
  domainRules.keys.fill(domainRules.count, (row, earlier) => {
    // It was marked when the draft was checked before.
    if (domainRules.isRepeated(row)) return;
    if (verdicts.at(earlier) === verdicts.at(row)) {
      domainRules.markRepeated(row);
      return;
    }
    const { item, position } = domainRules.placeOf(row);
    faults.add({
      loc: locationOf('bw_lists', item, 'domains', String(position)),
      msg: `The request has this domain of profile ${profileIds.at(row)} with the other type too`,
      type: 'duplicate',
    });
  });
}

function checkNapts({ napts }: Draft, faults: FaultList): void {
  // The rows of an address form a linked list from the last one to the first.
  const { count } = napts;
  const addresses = napts.column('address');
  const lastOf = Int32Array.from({ length: count }, (_, row) => row);
  const previous = new Int32Array(count).fill(-1);
  new KeyIndex([addresses]).fill(count, (row, first) => {
    previous[row] = lastOf[first];
    lastOf[first] = row;
  });
  napts.keys.fill(count);
  const clashing: { row: number; msg: string }[] = [];
  for (let row = 0; row < count; row++) {
    // Each address is checked once, at its first row.
    if (previous[row] !== -1) continue;
    const ranges = [];
    for (let one = lastOf[row]; one !== -1; one = previous[one]) {
      ranges.push({ ...napts.at(one), order: one });
    }
    for (const { earlier, later } of findClashes(ranges)) {
      const ports = `${earlier.lowerPort}-${earlier.upperPort}`;
      const msg = `Clashes with ports ${ports} of the same address in the same request`;
      clashing.push({ row: later.order, msg });
    }
  }
  for (const { row, msg } of clashing.sort((a, b) => a.row - b.row)) {
    faults.add({ loc: locationOf('napts', row), msg, type: 'duplicate' });
  }
}

function checkNetworks<A>(
  list: InitList,
  family: AddressFamily<A>,
  networks: Pick<DraftTable, 'count' | 'keys'> & { at(row: number): NetworkRecord<A> },
  faults: FaultList,
): void {
  const { count, keys } = networks;
  // Without host bits, networks with the same prefix have the same address.
  const prefixOf = (row: number): number[] =>
    toKeyRow(family.kind, masked(family, networks.at(row)) as never) as number[];
  let hasHostBits = false;
  for (let row = 0; row < count && !hasHostBits; row++) hasHostBits = !keys.is(row, prefixOf(row));
  const samePrefix = new Map<number, number>();
  if (hasHostBits) {
    const prefixes = prefixOf(0).map(() => Column.uint32());
    for (let row = 0; row < count; row++) {
      const prefix = prefixOf(row);
      for (let i = 0; i < prefix.length; i++) prefixes[i].push(prefix[i]);
    }
    new KeyIndex(prefixes).fill(count, (row, first) => samePrefix.set(row, first));
  }
  const sameAddress = new Map<number, number>();
  keys.fill(count, (row, first) => sameAddress.set(row, first));
  for (let row = 0; row < count; row++) {
    const earlier = sameAddress.get(row) ?? samePrefix.get(row);
    if (earlier === undefined) continue;
    const { address, prefixLength } = networks.at(earlier);
    const what = sameAddress.has(row) ? 'has this address' : 'covers exactly the same addresses';
    const msg = `Network ${family.format(address)}/${prefixLength} in the same request ${what}`;
    faults.add({ loc: locationOf(list, row, 'ip'), msg, type: 'duplicate' });
  }
}
