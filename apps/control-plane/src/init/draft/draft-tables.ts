import {
  type BlockPage,
  decodeProfileFlags,
  encodeProfileFlags,
  type Ipv6Words,
  type NaptAssignment,
  type Profile,
  type RuleVerdict,
} from '@weir/config-model';
import type { NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { Column } from './column.js';
import { hashWords } from './row-index.js';

/*
 * The submitted configuration in columns of numbers, in the order of the body. It takes a fraction of the memory of its
 * text.
 */

export class DraftBlockPages {
  private readonly types = Column.int32();
  readonly ids = Column.int32();

  add({ id, type }: BlockPage): void {
    this.ids.push(id);
    this.types.push(type);
  }

  at(row: number): BlockPage {
    return { id: this.ids.at(row), type: this.types.at(row) };
  }
}

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
  private readonly verdicts = Column.int32();

  add(profile: Profile): void {
    this.ids.push(profile.id);
    this.pages.push(profile.pageId ?? NO_PAGE);
    this.flags.push(encodeProfileFlags(profile));
    for (const id of profile.categoryIds) this.categories.push(id);
    this.categoryEnds.push(this.categories.length);
    for (const rule of profile.applicationRules) {
      this.applications.push(rule.applicationId);
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
        verdict: this.verdicts.at(i) as RuleVerdict,
      })),
    };
  }
}

function range<T>(ends: Column, row: number, at: (i: number) => T): T[] {
  const begin = row === 0 ? 0 : ends.at(row - 1);
  return Array.from({ length: ends.at(row) - begin }, (_, i) => at(begin + i));
}

/** Instead of a hash: the rule repeats an earlier one. */
const REPEATED = -1;

/** Domain rules. A row is one domain; it belongs to an item of `bw_lists`. */
export class DraftDomainRules {
  /** By item. */
  readonly profileIds = Column.int32();
  private readonly verdicts = Column.int32();
  /** By item: its first row. */
  private readonly begins = Column.uint32();
  /** By row. */
  readonly hashes = Column.float64();
  private readonly items = Column.uint32();

  /** Call it for the domains of an item in order, before `addItem`. */
  addDomain(item: number, position: number, hash: number): void {
    if (position === 0) this.beginItem(item);
    this.hashes.push(hash);
    this.items.push(item);
  }

  addItem(item: number, profileId: number, verdict: RuleVerdict): void {
    this.beginItem(item);
    this.profileIds.push(profileId);
    this.verdicts.push(verdict);
  }

  private beginItem(item: number): void {
    // Also for earlier items without domains.
    while (this.begins.length <= item) this.begins.push(this.hashes.length);
  }

  itemOf(row: number): number {
    return this.items.at(row);
  }

  /** The position of a row's domain within its item. */
  positionOf(row: number): number {
    return row - this.begins.at(this.items.at(row));
  }

  profileIdOf(row: number): number {
    return this.profileIds.at(this.items.at(row));
  }

  verdictOf(row: number): RuleVerdict {
    return this.verdicts.at(this.items.at(row)) as RuleVerdict;
  }

  markRepeated(row: number): void {
    this.hashes.set(row, REPEATED);
  }

  isRepeated(row: number): boolean {
    return this.hashes.at(row) === REPEATED;
  }
}

export class DraftNapts {
  readonly addresses = Column.uint32();
  private readonly lowerPorts = Column.int32();
  private readonly upperPorts = Column.int32();
  readonly profileIds = Column.int32();

  add(assignment: NaptAssignment): void {
    this.addresses.push(assignment.address);
    this.lowerPorts.push(assignment.lowerPort);
    this.upperPorts.push(assignment.upperPort);
    this.profileIds.push(assignment.profileId);
  }

  at(row: number): NaptAssignment {
    return {
      address: this.addresses.at(row),
      lowerPort: this.lowerPorts.at(row),
      upperPort: this.upperPorts.at(row),
      profileId: this.profileIds.at(row),
    };
  }
}

/** Networks of one address family. An address is stored as 32-bit words. */
export class DraftNetworks<A> {
  private readonly words: readonly Column[];
  private readonly prefixLengths = Column.int32();
  readonly profileIds = Column.int32();

  constructor(
    words: number,
    private readonly split: (address: A) => readonly number[],
    private readonly join: (words: readonly number[]) => A,
  ) {
    this.words = Array.from({ length: words }, () => Column.uint32());
  }

  static ofIpv4(): DraftNetworks<number> {
    return new DraftNetworks<number>(
      1,
      (address) => [address],
      (words) => words[0],
    );
  }

  static ofIpv6(): DraftNetworks<Ipv6Words> {
    return new DraftNetworks<Ipv6Words>(
      4,
      (address) => address,
      (words) => words as unknown as Ipv6Words,
    );
  }

  add({ address, prefixLength, profileId }: NetworkRecord<A>): void {
    for (const [i, word] of this.split(address).entries()) this.words[i].push(word);
    this.prefixLengths.push(prefixLength);
    this.profileIds.push(profileId);
  }

  at(row: number): NetworkRecord<A> {
    return {
      address: this.join(this.words.map((word) => word.at(row))),
      prefixLength: this.prefixLengths.at(row),
      profileId: this.profileIds.at(row),
    };
  }

  /** A 32-bit hash of an address. */
  hash(address: A): number {
    return hashWords(...this.split(address));
  }
}

/** The submitted configuration. */
export class Draft {
  readonly blockPages = new DraftBlockPages();
  readonly profiles = new DraftProfiles();
  readonly domainRules = new DraftDomainRules();
  readonly napts = new DraftNapts();
  readonly ipv4Networks = DraftNetworks.ofIpv4();
  readonly ipv6Networks = DraftNetworks.ofIpv6();
}
