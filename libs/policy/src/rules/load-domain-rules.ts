import { type Digest, fromRow, MAX_DOMAIN_HASH, MAX_ID, RuleVerdict } from '@weir/config-model';
import type { Profiles } from '../profiles/profiles.js';
import type { DomainRules } from './domain-rules.js';

/** Rows whose memory is waited for together. */
const BATCH = 256;

type RuleRow = readonly [profileId: number, domainHash: number, verdict: RuleVerdict];

/**
 * Puts rules by their rows, ten million in seconds: makes no entity and no list for a rule, and begins to read the places of a batch of rules
 * before the first of them is put. Fast when the rows of a profile follow each other, as in a snapshot.
 * @throws RowError when a row is none of a domain rule; those before it are in.
 */
export function loadDomainRules(
  rows: Iterable<unknown>,
  rules: DomainRules,
  profiles: Profiles,
  sum: Digest,
): void {
  const batch = new Array<RuleRow>(BATCH);
  const slots = new Int32Array(BATCH);
  const lows = new Int32Array(BATCH);
  let count = 0;
  let lastId = -1;
  let lastSlot = -1;
  const flush = (): void => {
    rules.prefetch(slots, lows, count);
    for (let i = 0; i < count; i++) put(batch[i], slots[i], rules, profiles, sum);
    count = 0;
  };
  for (const row of rows) {
    if (!isRuleRow(row)) {
      flush();
      // Says what is wrong with it.
      fromRow('domainRule', row);
      continue;
    }
    if (row[0] !== lastId) {
      lastId = row[0];
      lastSlot = profiles.slotOf(lastId);
    }
    batch[count] = row;
    slots[count] = lastSlot;
    lows[count] = row[1] | 0;
    if (++count === BATCH) flush();
  }
  flush();
}

function put(
  row: RuleRow,
  slot: number,
  rules: DomainRules,
  profiles: Profiles,
  sum: Digest,
): void {
  const previous = rules.set(slot, row[1], row[2]);
  if (previous === 0) profiles.countRules(slot, 1);
  else sum.remove('domainRule', [row[0], row[1], previous]);
  sum.add('domainRule', row);
}

function isRuleRow(row: unknown): row is RuleRow {
  if (!Array.isArray(row) || row.length !== 3) return false;
  const [profileId, domainHash, verdict] = row as unknown[];
  return (
    isInteger(profileId, MAX_ID) &&
    isInteger(domainHash, MAX_DOMAIN_HASH) &&
    (verdict === RuleVerdict.allow || verdict === RuleVerdict.deny)
  );
}

function isInteger(value: unknown, highest: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= highest;
}
