import { type Entities, type Row, toKeyRow, toRow } from '@weir/config-model';
import type { ClientBase } from 'pg';
import { type EntityTable, readPages } from '../../platform/database/snapshot.js';
import { BLOCK_PAGES } from '../../resources/block-pages/block-page-store.js';
import { formatIpv4, formatIpv6 } from '../../resources/networks/addresses/addresses.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import { PROFILES } from '../../resources/profiles/profile-store.js';
import type { KeyIndex } from '../draft/columns.js';
import type { Draft } from '../draft/draft.js';
import {
  type DifferenceDto,
  type DryRunDto,
  MAX_SAMPLES,
  type SampleKey,
} from '../read/init.dto.js';
import { comparedTables } from './compared-tables.js';
import { readStored } from './comparison.js';

/** The records of a body. Networks have their host bits. */
type Records = Omit<Entities, 'schedule' | 'catalogue' | 'order' | 'grant'>;
type Kind = keyof Records;
type AnyRecord = Records[Kind];

const LISTS = {
  blockPage: 'blockpages',
  profile: 'profiles',
  domainRule: 'bw_lists',
  naptAssignment: 'napts',
  ipv4Network: 'nets',
  ipv6Network: 'nets6',
} as const satisfies Record<Kind, string>;

const KEYS: { readonly [K in Kind]: (record: Records[K]) => SampleKey } = {
  blockPage: ({ id }) => id,
  profile: ({ id }) => id,
  domainRule: ({ profileId, domainHash }) => ({ profile_id: profileId, domain_hash: domainHash }),
  naptAssignment: (napt) => `${formatIpv4(napt.address)}:${napt.lowerPort}-${napt.upperPort}`,
  ipv4Network: ({ address, prefixLength }) => `${formatIpv4(address)}/${prefixLength}`,
  ipv6Network: ({ address, prefixLength }) => `${formatIpv6(address)}/${prefixLength}`,
};

/** @param row of the draft, with the same key; null: there is none. */
type Visit = (row: number | null, isEqual: boolean, stored: () => AnyRecord) => void;

/** The records of one list: those of the draft, and those that are stored. */
interface Compared {
  readonly kind: Kind;
  /** The number of rows of the draft. */
  readonly count: number;
  readonly isRepeated?: (row: number) => boolean;
  readonly recordOf: (row: number) => AnyRecord;
  /** Reads those that are stored. */
  readonly read: (visit: Visit) => Promise<void>;
}

/** What a replacement does to a record. Before the last: what is known of a row of the draft, as a number. */
const FATES = ['added', 'changed', 'unchanged', 'removed'] as const;
type Fate = (typeof FATES)[number];

/**
 * Compares the stored configuration with a draft that has been checked, in a transaction that sees one revision. It
 * reads each stored row once, and writes nothing.
 */
export async function compareConfiguration(
  client: ClientBase,
  draft: Draft,
): Promise<Omit<DryRunDto, 'revision'>> {
  const { keys: profiles } = draft.profiles;
  /** By profile of the draft: 1 when what it decides by differs. */
  const differs = new Uint8Array(draft.profiles.ids.length);
  const mark = (profileId: number): void => {
    const row = profiles.find(profileId);
    if (row !== null) differs[row] = 1;
  };
  // A schedule goes with its target (decisions §2).
  const schedules = await client.query<{ id: number; target: number }>(
    'SELECT profile_id AS id, target_profile_id AS target FROM schedule',
  );
  for (const { id, target } of schedules.rows) if (profiles.find(target) === null) mark(id);
  // Grants that hold go with every replacement (decisions §15).
  const grants = await client.query<{ id: number }>(
    'SELECT DISTINCT profile_id AS id FROM domain_grant WHERE until > now()',
  );
  for (const { id } of grants.rows) mark(id);
  let affected = 0;
  const note = (kind: Kind, record: AnyRecord, fate: Fate): void => {
    const isSame = fate === 'unchanged';
    if (!('profileId' in record)) {
      if (kind === 'profile' && !isSame) mark(record.id);
    } else if (kind === 'domainRule') {
      if (!isSame) mark(record.profileId);
    } else if (!isSame || differs[profiles.find(record.profileId) ?? -1] === 1) affected++;
  };
  const resources: Partial<Record<(typeof LISTS)[Kind], DifferenceDto>> = {};
  for (const list of listsOf(client, draft)) {
    resources[LISTS[list.kind]] = await differenceOf(list, note);
  }
  return { resources: resources as DryRunDto['resources'], subscribers_affected: affected };
}

/** Those of profiles and their rules come before those of networks. */
function listsOf(client: ClientBase, draft: Draft): Compared[] {
  const { blockPages, profiles } = draft;
  const lists: Compared[] = [
    byId(client, BLOCK_PAGES, blockPages.keys, {
      count: blockPages.ids.length,
      recordOf: (row) => blockPages.at(row),
    }),
    byId(client, PROFILES, profiles.keys, {
      count: profiles.ids.length,
      recordOf: (row) => toProfile(profiles.at(row)),
    }),
  ];
  for (const table of comparedTables(draft)) {
    const { kind } = table;
    // These rules are in their profiles.
    if (kind === 'applicationRule') continue;
    const read = (visit: Visit): Promise<void> =>
      readStored(client, table, (bytes, at, row, isEqual) => {
        visit(row, isEqual, () => table.storedRecord(bytes, at) as AnyRecord);
      });
    lists.push({ ...table, kind, recordOf: (row) => table.recordOf(row) as AnyRecord, read });
  }
  return lists;
}

function byId<K extends 'blockPage' | 'profile', Stored>(
  client: ClientBase,
  table: EntityTable<K, Stored>,
  rows: KeyIndex,
  draft: Pick<Compared, 'count'> & { recordOf(row: number): Entities[K] },
): Compared {
  const { kind } = table;
  const textOf = (entity: Entities[K]): string => toRow(kind, entity).join();
  return {
    kind,
    ...draft,
    read: async (visit) => {
      for await (const page of readPages(client, table.sql)) {
        for (const stored of page as Stored[]) {
          const entity = table.toEntity(stored);
          const row = rows.find(entity.id);
          const isEqual = row !== null && textOf(draft.recordOf(row)) === textOf(entity);
          visit(row, isEqual, () => entity);
        }
      }
    },
  };
}

async function differenceOf(
  list: Compared,
  note: (kind: Kind, record: AnyRecord, fate: Fate) => void,
): Promise<DifferenceDto> {
  const { kind, count } = list;
  const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const samples = {
    added: [] as AnyRecord[],
    changed: [] as AnyRecord[],
    removed: [] as AnyRecord[],
  };
  const add = (record: AnyRecord, fate: Fate): void => {
    counts[fate]++;
    note(kind, record, fate);
    if (fate !== 'unchanged' && samples[fate].length < MAX_SAMPLES) samples[fate].push(record);
  };
  /** By row of the draft: the number of its fate. */
  const fates = new Uint8Array(count);
  await list.read((row, isEqual, stored) => {
    if (row === null) add(stored(), 'removed');
    else fates[row] = FATES.indexOf(isEqual ? 'unchanged' : 'changed');
  });
  for (let row = 0; row < count; row++) {
    if (!list.isRepeated?.(row)) add(list.recordOf(row), FATES[fates[row]]);
  }
  const keys = (fate: Exclude<Fate, 'unchanged'>): SampleKey[] =>
    samples[fate]
      .sort((a, b) => compareRows(toKeyRow(kind, a as never), toKeyRow(kind, b as never)))
      .map((record) => KEYS[kind](record as never));
  return {
    ...counts,
    samples: { added: keys('added'), changed: keys('changed'), removed: keys('removed') },
  };
}

/** Key rows are numbers. */
function compareRows(a: Row, b: Row): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i === -1 ? 0 : Number(a[i]) - Number(b[i]);
}
