import {
  decodeProfileFlags,
  encodeProfileFlags,
  type Profile,
  type RuleVerdict,
} from '@weir/config-model';
import { Column } from './column.js';
import { KeyIndex } from './row-index.js';

const NO_PAGE = -1;

export class DraftProfiles {
  readonly ids = Column.int32();
  private readonly pages = Column.int32();
  private readonly flags = Column.int32();
  /** End of the categories and applications of each profile. They begin at the end of the previous profile. */
  private readonly categoryEnds = Column.uint32();
  private readonly applicationEnds = Column.uint32();
  private readonly categories = Column.int32();
  readonly applications = Column.int32();
  /** By application: its profile. */
  readonly applicationProfiles = Column.int32();
  private readonly verdicts = Column.int32();
  readonly keys = new KeyIndex([this.ids]);
  readonly applicationKeys = new KeyIndex([this.applicationProfiles, this.applications]);

  add(profile: Profile): void {
    this.ids.push(profile.id);
    this.pages.push(profile.pageId ?? NO_PAGE);
    this.flags.push(encodeProfileFlags(profile));
    for (const id of profile.categoryIds) this.categories.push(id);
    this.categoryEnds.push(this.categories.length);
    for (const rule of profile.applicationRules) {
      this.applications.push(rule.applicationId);
      this.applicationProfiles.push(profile.id);
      this.verdicts.push(rule.verdict);
    }
    this.applicationEnds.push(this.applications.length);
  }

  /** @returns the profile as it was added. */
  at(row: number): Profile {
    const page = this.pages.at(row);
    return {
      id: this.ids.at(row),
      pageId: page === NO_PAGE ? null : page,
      ...decodeProfileFlags(this.flags.at(row)),
      categoryIds: range(this.categoryEnds, row, (i) => this.categories.at(i)),
      applicationRules: range(this.applicationEnds, row, (i) => ({
        applicationId: this.applications.at(i),
        verdict: this.verdictOf(i),
      })),
    };
  }

  verdictOf(application: number): RuleVerdict {
    return this.verdicts.at(application) as RuleVerdict;
  }
}

function range<T>(ends: Column, row: number, at: (i: number) => T): T[] {
  const begin = row === 0 ? 0 : ends.at(row - 1);
  return Array.from({ length: ends.at(row) - begin }, (_, i) => at(begin + i));
}
