import {
  type ApplicationRule,
  decodeProfileFlags,
  Digest,
  encodeProfileFlags,
  type Entities,
  type EntityKind,
  type Ipv4Network,
  type Ipv6Network,
  type Ipv6Words,
  type Profile,
  ProfileFlag,
  type ProfileFlags,
  type RuleVerdict,
  toRow,
} from '@weir/config-model';
import { hash as digestOf } from 'node:crypto';
import { copyLine } from '../../platform/database/copy.js';
import { IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import { Column } from './columns.js';
import {
  type DraftKind,
  type DraftRecord,
  DraftTable,
  type TableDefinition,
} from './draft-table.js';

const BLOCK_PAGES: TableDefinition<'blockPage'> = {
  kind: 'blockPage',
  name: 'block_page',
  columns: { id: 'integer', type: 'smallint' },
  keyColumns: 1,
  isReferred: true,
  toNumbers: (page) => toRow('blockPage', page),
  fromNumbers: ([id, type]) => ({ id, type }),
};

const APPLICATION_RULES: TableDefinition<'applicationRule'> = {
  kind: 'applicationRule',
  name: 'application_rule',
  columns: { profile_id: 'integer', application_id: 'integer', verdict: 'smallint' },
  keyColumns: 2,
  toNumbers: ({ profileId, applicationId, verdict }) => [profileId, applicationId, verdict],
  fromNumbers: ([profileId, applicationId, verdict]) => ({
    profileId,
    applicationId,
    verdict: verdict as RuleVerdict,
  }),
};

const NAPT_ASSIGNMENTS: TableDefinition<'naptAssignment'> = {
  kind: 'naptAssignment',
  name: 'napt_assignment',
  columns: {
    ...{ address: 'ipv4', lower_port: 'integer', upper_port: 'integer' },
    profile_id: 'integer',
  },
  keyColumns: 3,
  toNumbers: (assignment) => toRow('naptAssignment', assignment),
  fromNumbers: ([address, lowerPort, upperPort, profileId]) => ({
    address,
    lowerPort,
    upperPort,
    profileId,
  }),
};

const IPV4_NETWORKS: TableDefinition<'ipv4Network'> = {
  kind: 'ipv4Network',
  name: 'ipv4_network',
  columns: { address: 'ipv4', prefix_length: 'smallint', profile_id: 'integer' },
  keyColumns: 1,
  toNumbers: (network) => toRow('ipv4Network', network),
  fromNumbers: ([address, prefixLength, profileId]) => ({ address, prefixLength, profileId }),
};

const IPV6_NETWORKS: TableDefinition<'ipv6Network'> = {
  kind: 'ipv6Network',
  name: 'ipv6_network',
  columns: { address: 'ipv6', prefix_length: 'smallint', profile_id: 'integer' },
  keyColumns: 1,
  toNumbers: (network) => toRow('ipv6Network', network),
  fromNumbers: (numbers) => ({
    address: numbers.slice(0, 4) as unknown as Ipv6Words,
    prefixLength: numbers[4],
    profileId: numbers[5],
  }),
};

const NO_PAGE = -1;
const FLAG_COLUMNS: Readonly<Record<keyof ProfileFlags, string>> = {
  whiteListOnly: 'white_list_only',
  emptyDnsAnswer: 'empty_dns_answer',
  appawarePriorityOverBwlists: 'appaware_priority_over_bwlists',
};
const FLAGS = Object.keys(FLAG_COLUMNS) as (keyof ProfileFlags)[];

const PROFILES: TableDefinition<'profile'> = {
  kind: 'profile',
  name: 'profile',
  columns: {
    id: 'integer',
    [`coalesce(page_id, ${NO_PAGE})`]: 'integer',
    [FLAGS.map((flag) => `${FLAG_COLUMNS[flag]}::integer * ${ProfileFlag[flag]}`).join(' + ')]:
      'integer',
    // A list has no fixed size.
    'sha256(category_ids::text::bytea)': 'sha256',
  },
  keyColumns: 1,
  isReferred: true,
  toNumbers: (profile: Profile) => [
    profile.id,
    profile.pageId ?? NO_PAGE,
    encodeProfileFlags(profile),
  ],
  fromNumbers: ([id]) => ({ id }),
};

class DraftProfiles extends DraftTable<'profile'> {
  override readonly columns = [
    'id',
    'page_id',
    ...Object.values(FLAG_COLUMNS),
    'category_ids',
  ].join(', ');
  readonly applicationRules = new DraftTable(APPLICATION_RULES);
  private readonly categories = Column.int32();
  /** End of the categories and of the rules of each profile. They begin at the end of the previous profile. */
  private readonly categoryEnds = Column.uint32();
  private readonly ruleEnds = Column.uint32();

  constructor() {
    super(PROFILES);
  }

  override add(profile: Profile): void {
    super.add(profile);
    for (const id of profile.categoryIds) this.categories.push(id);
    this.categoryEnds.push(this.categories.length);
    for (const rule of profile.applicationRules) {
      this.applicationRules.add({ ...rule, profileId: profile.id });
    }
    this.ruleEnds.push(this.applicationRules.count);
  }

  /** @returns the profile as followers know it. */
  override at(row: number): Profile {
    const [id, page, flags] = this.numbersAt(row);
    return toProfile({
      id,
      pageId: page === NO_PAGE ? null : page,
      ...decodeProfileFlags(flags),
      categoryIds: range(this.categoryEnds, row, (i) => this.categories.at(i)),
      applicationRules: this.rulesAt(row),
    });
  }

  /** @returns the rules of a profile for applications, as they were added. */
  rulesAt(row: number): ApplicationRule[] {
    return range(this.ruleEnds, row, (i) => {
      const { applicationId, verdict } = this.applicationRules.at(i);
      return { applicationId, verdict };
    });
  }

  override line(row: number): string {
    const profile = this.at(row);
    const flags = FLAGS.map((flag) => profile[flag]);
    return copyLine(profile.id, profile.pageId ?? '\\N', ...flags, categoriesText(profile));
  }

  override isEqual(row: number, stored: Buffer, at: number): boolean {
    if (!super.isEqual(row, stored, at)) return false;
    const digest = digestOf('sha256', categoriesText(this.at(row)), 'buffer');
    const digestAt = at + (this.stored.offsets.at(-1) as number);
    return digest.equals(stored.subarray(digestAt, digestAt + digest.length));
  }
}

function range<T>(ends: Column, row: number, at: (i: number) => T): T[] {
  const begin = row === 0 ? 0 : ends.at(row - 1);
  return Array.from({ length: ends.at(row) - begin }, (_, i) => at(begin + i));
}

/** As PostgreSQL writes a list. */
function categoriesText({ categoryIds }: Profile): string {
  return `{${categoryIds.join(',')}}`;
}

const DOMAIN_RULES: TableDefinition<'domainRule'> = {
  kind: 'domainRule',
  name: 'domain_rule',
  columns: { profile_id: 'integer', domain_hash: 'domainHash', verdict: 'smallint' },
  keyColumns: 2,
  toNumbers: (rule) => toRow('domainRule', rule),
  fromNumbers: ([profileId, domainHash, verdict]) => ({
    profileId,
    domainHash,
    verdict: verdict as RuleVerdict,
  }),
};

/** Instead of a hash: the rule repeats an earlier one. */
const REPEATED = -1;

/** Domain rules. A row is one domain; it belongs to an item of `bw_lists`. */
class DraftDomainRules extends DraftTable<'domainRule'> {
  /** By item. */
  readonly itemProfiles = Column.int32();
  /** By item: its first row. */
  private readonly begins = Column.uint32();
  private readonly profileIds = this.column('profile_id');
  private readonly hashes = this.column('domain_hash');
  private readonly verdicts = this.column('verdict');
  private repeated = 0;

  constructor() {
    super(DOMAIN_RULES);
  }

  /** Call it for the domains of all items in order. */
  addDomain(item: number, hash: number): void {
    this.beginItem(item);
    this.hashes.push(hash);
  }

  /** Call it for all items in order, each after its domains. */
  addItem(item: number, profileId: number, verdict: RuleVerdict): void {
    this.beginItem(item);
    this.itemProfiles.push(profileId);
    const next = item + 1;
    const end = next < this.begins.length ? this.begins.at(next) : this.hashes.length;
    while (this.profileIds.length < end) {
      this.profileIds.push(profileId);
      this.verdicts.push(verdict);
    }
  }

  private beginItem(item: number): void {
    // Also for earlier items without domains.
    while (this.begins.length <= item) this.begins.push(this.hashes.length);
  }

  /** The item of a row, and the position of its domain within the item. */
  placeOf(row: number): { item: number; position: number } {
    let [item, end] = [0, this.begins.length];
    while (end - item > 1) {
      const middle = (item + end) >>> 1;
      if (this.begins.at(middle) <= row) item = middle;
      else end = middle;
    }
    return { item, position: row - this.begins.at(item) };
  }

  verdictOf(row: number): RuleVerdict {
    return this.verdicts.at(row) as RuleVerdict;
  }

  profileIdOf(row: number): number {
    return this.profileIds.at(row);
  }

  markRepeated(row: number): void {
    this.hashes.set(row, REPEATED);
    this.repeated++;
  }

  override get distinctCount(): number {
    return this.count - this.repeated;
  }

  override isRepeated(row: number): boolean {
    return this.hashes.at(row) === REPEATED;
  }
}

/** The submitted configuration. The check fills the keys of the tables. */
export class Draft {
  readonly blockPages = new DraftTable(BLOCK_PAGES);
  readonly profiles = new DraftProfiles();
  readonly domainRules = new DraftDomainRules();
  readonly napts = new DraftTable(NAPT_ASSIGNMENTS);
  readonly ipv4Networks = new DraftTable(IPV4_NETWORKS);
  readonly ipv6Networks = new DraftTable(IPV6_NETWORKS);
  /** In the order in which they are filled: a table comes after those that it refers to. */
  readonly tables: readonly DraftTable[] = [
    ...[this.blockPages, this.profiles, this.profiles.applicationRules, this.domainRules],
    ...[this.napts, this.ipv4Networks, this.ipv6Networks],
  ];
}

/** A record as followers know it. Rules of applications are part of their profiles. */
export function toEntity(
  kind: Exclude<DraftKind, 'applicationRule'>,
  record: DraftRecord,
): Entities[EntityKind] {
  if (kind === 'ipv4Network') return masked(IPV4, record as Ipv4Network);
  if (kind === 'ipv6Network') return masked(IPV6, record as Ipv6Network);
  return record as Entities[EntityKind];
}

/** The digest of a draft that has been checked. Schedules and the catalogue are not part of it. */
export function digestOfDraft({ tables }: Draft): string {
  const digest = new Digest();
  for (const table of tables) {
    const { kind } = table;
    if (kind === 'applicationRule') continue;
    for (let row = 0; row < table.count; row++) {
      if (table.isRepeated(row)) continue;
      digest.add(kind, toRow(kind, toEntity(kind, table.at(row)) as never));
    }
  }
  return digest.toString();
}
