import {
  type Digest,
  type EntityKind,
  type FlatRows,
  fromRow,
  MAX_DOMAIN_HASH,
  MAX_ID,
  type PutOperation,
  RuleVerdict,
} from '@weir/config-model';
import { checkOperation } from './check-operation.js';
import type { EntityStore, EntityStores } from './entity-stores.js';

const WORD = 0xffff_ffff;

/**
 * Puts the rows of a snapshot, as `put` puts their entities; of the kinds that there are millions of without an object
 * for each. Fastest when the rules of a profile follow each other.
 * @throws RowError when one is not a row of that kind. @throws PolicyError as `Policy.put`. Rows before it may stay.
 */
export function loadRows(
  kind: EntityKind,
  rows: FlatRows,
  stores: EntityStores,
  sum: Digest,
): void {
  if (kind === 'domainRule') loadDomainRules(rows, stores, sum);
  else if (kind === 'ipv4Network') loadIpv4Networks(rows, stores, sum);
  else loadEntities(kind, rows, stores, sum);
  sum.addAll(kind, rows);
}

function loadEntities(kind: EntityKind, rows: FlatRows, stores: EntityStores, sum: Digest): void {
  for (const row of rows) {
    const entity = fromRow(kind, row);
    checkOperation({ type: 'put', kind, entity } as PutOperation);
    const previous = (stores[kind] as EntityStore<EntityKind>).put(entity);
    if (previous !== null) sum.remove(kind, previous);
  }
}

function loadDomainRules(rows: FlatRows, stores: EntityStores, sum: Digest): void {
  const { domainRules, profiles } = stores;
  const { values } = rows;
  let lastId = -1;
  let slot = -1;
  for (let i = 0; i < rows.length; i++) {
    const at = rows.startOf(i);
    if (!isDomainRule(values, at, rows.ends[i])) refuse('domainRule', rows, i);
    const profileId = values[at];
    if (profileId !== lastId) {
      lastId = profileId;
      slot = profiles.slotOf(profileId);
    }
    const previous = domainRules.set(slot, values[at + 1], values[at + 2] as RuleVerdict);
    if (previous !== 0) sum.remove('domainRule', [profileId, values[at + 1], previous]);
  }
}

function loadIpv4Networks(rows: FlatRows, stores: EntityStores, sum: Digest): void {
  const { subscribers, profiles } = stores;
  const { values } = rows;
  const words = new Uint32Array(1);
  for (let i = 0; i < rows.length; i++) {
    const at = rows.startOf(i);
    if (!isIpv4Network(values, at, rows.ends[i])) refuse('ipv4Network', rows, i);
    words[0] = values[at];
    const length = values[at + 1];
    const previous = subscribers.ipv4Networks.set(words, length, profiles.slotOf(values[at + 2]));
    if (previous < 0) continue;
    sum.remove('ipv4Network', [values[at], length, profiles.lookup.id(previous)]);
  }
}

function isDomainRule(values: Float64Array, at: number, end: number): boolean {
  const [allow, deny] = [RuleVerdict.allow, RuleVerdict.deny];
  return (
    end - at === 3 &&
    isWithin(values[at], MAX_ID) &&
    isWithin(values[at + 1], MAX_DOMAIN_HASH) &&
    (values[at + 2] === allow || values[at + 2] === deny)
  );
}

function isIpv4Network(values: Float64Array, at: number, end: number): boolean {
  const [address, length] = [values[at], values[at + 1]];
  return (
    end - at === 3 &&
    isWithin(address, WORD) &&
    isWithin(length, 32) &&
    isWithin(values[at + 2], MAX_ID) &&
    (length === 32 || (address & (WORD >>> length)) === 0)
  );
}

function isWithin(value: number, highest: number): boolean {
  return value >= 0 && value <= highest;
}

/** Throws what the way of entities throws for a row, with the reason. */
function refuse(kind: 'domainRule' | 'ipv4Network', rows: FlatRows, index: number): never {
  const entity = fromRow(kind, rows.row(index));
  checkOperation({ type: 'put', kind, entity } as PutOperation);
  throw new RangeError(`${kind}: a valid row was refused`);
}
