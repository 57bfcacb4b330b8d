import { toKeyRow } from '@weir/config-model';
import type { ClientBase } from 'pg';
import { RESOURCES } from '../../changes/change.dto.js';
import type { Draft } from '../draft/draft.js';
import type { DraftKind, DraftRecord, DraftRecords, DraftTable } from '../draft/draft-table.js';
import {
  type DifferenceDto,
  type DryRunDto,
  MAX_SAMPLES,
  type SampleKey,
} from '../read/init.dto.js';
import { readStored } from './comparison.js';
import { endingSchedules } from './replace-configuration.js';

/** Rules of applications are part of their profiles. */
type Kind = Exclude<DraftKind, 'applicationRule'>;

const LISTS = {
  blockPage: 'blockpages',
  profile: 'profiles',
  domainRule: 'bw_lists',
  naptAssignment: 'napts',
  ipv4Network: 'nets',
  ipv6Network: 'nets6',
} as const satisfies Record<Kind, string>;

/** What a replacement does to a record. Before the last: what is known of a row of the draft, as a number. */
const FATES = ['added', 'changed', 'unchanged', 'removed'] as const;
type Fate = (typeof FATES)[number];

/** Takes a record, and its row of the draft; null: it is stored only. */
type Visit<K extends DraftKind> = (record: DraftRecords[K], fate: Fate, row: number | null) => void;

/** Compares the stored configuration with a draft that has been checked, in a transaction that sees one revision. */
export async function compareConfiguration(
  client: ClientBase,
  draft: Draft,
): Promise<Omit<DryRunDto, 'revision'>> {
  const { tables } = draft;
  const { keys: profiles, count } = draft.profiles;
  /** By profile of the draft: 1 when its rules for applications differ, and when anything that it decides by does. */
  const byRules = new Uint8Array(count);
  const differs = new Uint8Array(count);
  const mark = (marks: Uint8Array, profileId: number): void => {
    const row = profiles.find(profileId);
    if (row !== null) marks[row] = 1;
  };
  await compare(client, draft.profiles.applicationRules, (rule, fate) => {
    if (fate !== 'unchanged') mark(byRules, rule.profileId);
  });
  for (const { profileId } of await endingSchedules(client, draft)) mark(differs, profileId);
  // Grants that hold go with every replacement (decisions §15).
  const grants = await client.query<{ id: number }>(
    'SELECT DISTINCT profile_id AS id FROM domain_grant WHERE until > now()',
  );
  for (const { id } of grants.rows) mark(differs, id);
  let affected = 0;
  const note = (kind: Kind, record: DraftRecord, fate: Fate): void => {
    const isSame = fate === 'unchanged';
    if (!('profileId' in record)) {
      if (kind === 'profile' && !isSame) mark(differs, record.id);
    } else if (kind === 'domainRule') {
      if (!isSame) mark(differs, record.profileId);
    } else if (!isSame || differs[profiles.find(record.profileId) ?? -1] === 1) affected++;
  };
  const resources: Partial<Record<(typeof LISTS)[Kind], DifferenceDto>> = {};
  // Profiles and their rules come before networks.
  for (const table of tables) {
    const { kind } = table;
    if (kind === 'applicationRule') continue;
    const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
    const samples: Record<Fate, DraftRecord[]> = {
      added: [],
      changed: [],
      removed: [],
      unchanged: [],
    };
    await compare(client, table, (record, found, row) => {
      const isByRules = kind === 'profile' && found === 'unchanged' && byRules[row ?? -1] === 1;
      const fate = isByRules ? 'changed' : found;
      if (++counts[fate] <= MAX_SAMPLES) samples[fate].push(record);
      note(kind, record, fate);
    });
    const [added, changed, removed] = [samples.added, samples.changed, samples.removed].map((of) =>
      sampleKeys(kind, of),
    );
    resources[LISTS[kind]] = { ...counts, samples: { added, changed, removed } };
  }
  return { resources: resources as DryRunDto['resources'], subscribers_affected: affected };
}

/** Visits all records of a table: first those that are stored only, then those of the draft. */
async function compare<K extends DraftKind>(
  client: ClientBase,
  table: DraftTable<K>,
  visit: Visit<K>,
): Promise<void> {
  /** By row of the draft: the number of its fate. */
  const fates = new Uint8Array(table.count);
  await readStored(client, table, (bytes, at, row, isEqual) => {
    if (row === null) visit(table.storedRecord(bytes, at), 'removed', null);
    else fates[row] = FATES.indexOf(isEqual ? 'unchanged' : 'changed');
  });
  for (let row = 0; row < table.count; row++) {
    if (!table.isRepeated(row)) visit(table.at(row), FATES[fates[row]], row);
  }
}

function sampleKeys(kind: Kind, records: readonly DraftRecord[]): SampleKey[] {
  const [, keyOf] = RESOURCES[kind];
  const rows = records.map((record) => toKeyRow(kind, record as never) as readonly number[]);
  return rows.sort(compareRows).map((row) => keyOf(row));
}

function compareRows(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i === -1 ? 0 : a[i] - b[i];
}
