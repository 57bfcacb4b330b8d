import {
  type ApplicationRule,
  decodeProfileFlags,
  encodeProfileFlags,
  type Profile,
  ProfileFlag,
  type ProfileFlags,
  type RuleVerdict,
} from '@weir/config-model';
import { hash as digestOf } from 'node:crypto';
import { copyLine } from '../../platform/database/copy.js';
import { toProfile } from '../../resources/profiles/profile.dto.js';
import { Column } from './columns.js';
import { DraftTable, type TableDefinition } from './draft-table.js';

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

const NO_PAGE = -1;
const PAGE = `coalesce(page_id, ${NO_PAGE})`;
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
    [PAGE]: 'integer',
    [FLAGS.map((flag) => `${FLAG_COLUMNS[flag]}::integer * ${ProfileFlag[flag]}`).join(' + ')]:
      'integer',
    // A list has no fixed size.
    'sha256(category_ids::text::bytea)': 'sha256',
  },
  keyColumns: 1,
  isReferred: true,
  toNumbers: (one: Profile) => [one.id, one.pageId ?? NO_PAGE, encodeProfileFlags(one)],
  fromNumbers: ([id]) => ({ id }),
};

/** Profiles with their rules for applications. */
export class DraftProfiles extends DraftTable<'profile'> {
  override readonly columns = `id, page_id, ${Object.values(FLAG_COLUMNS).join(', ')}, category_ids`;
  readonly applicationRules = new DraftTable(APPLICATION_RULES);
  private readonly pages = this.column(PAGE);
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
    const [id, , flags] = this.numbersAt(row);
    return toProfile({
      id,
      pageId: this.pageIdAt(row),
      ...decodeProfileFlags(flags),
      categoryIds: range(this.categoryEnds, row, (i) => this.categories.at(i)),
      applicationRules: this.rulesAt(row),
    });
  }

  pageIdAt(row: number): number | null {
    const page = this.pages.at(row);
    return page === NO_PAGE ? null : page;
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
