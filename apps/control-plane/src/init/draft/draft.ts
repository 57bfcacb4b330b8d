import {
  type BlockPage,
  decodeProfileFlags,
  Digest,
  type DomainRule,
  encodeProfileFlags,
  type Entities,
  type EntityKind,
  type Ipv6Words,
  type NaptAssignment,
  type Profile,
  type RuleVerdict,
  toRow,
} from '@weir/config-model';
import { type AddressFamily, IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked, type NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import { Column, hashWords, KeyIndex } from './columns.js';

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
  readonly keys = new KeyIndex([{ at: (row) => this.profileIdOf(row) }, this.hashes]);
  private repeated = 0;

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

  /** @param row that repeats no other. */
  at(row: number): DomainRule {
    return {
      profileId: this.profileIdOf(row),
      domainHash: this.hashes.at(row),
      verdict: this.verdictOf(row),
    };
  }

  markRepeated(row: number): void {
    this.hashes.set(row, REPEATED);
    this.repeated++;
  }

  /** The number of rows that repeat no other. */
  get distinctCount(): number {
    return this.hashes.length - this.repeated;
  }

  isRepeated(row: number): boolean {
    return this.hashes.at(row) === REPEATED;
  }
}

/** Networks of one address family. An address is stored as 32-bit words. */
export class DraftNetworks<A> {
  private readonly words: readonly Column[];
  private readonly prefixLengths = Column.int32();
  readonly profileIds = Column.int32();
  readonly keys: KeyIndex;

  constructor(
    words: number,
    private readonly split: (address: A) => readonly number[],
    readonly join: (words: readonly number[]) => A,
  ) {
    this.words = Array.from({ length: words }, () => Column.uint32());
    this.keys = new KeyIndex(this.words);
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

  /** Whether a row is this record. */
  is(row: number, words: readonly number[], prefixLength: number, profileId: number): boolean {
    const isSame =
      this.prefixLengths.at(row) === prefixLength && this.profileIds.at(row) === profileId;
    return isSame && this.keys.is(row, words);
  }
}

class DraftNapts {
  readonly addresses = Column.uint32();
  private readonly lowerPorts = Column.int32();
  private readonly upperPorts = Column.int32();
  readonly profileIds = Column.int32();
  readonly keys = new KeyIndex([this.addresses, this.lowerPorts, this.upperPorts]);

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

class DraftBlockPages {
  private readonly types = Column.int32();
  readonly ids = Column.int32();
  readonly keys = new KeyIndex([this.ids]);

  add({ id, type }: BlockPage): void {
    this.ids.push(id);
    this.types.push(type);
  }

  at(row: number): BlockPage {
    return { id: this.ids.at(row), type: this.types.at(row) };
  }
}

/**
 * The submitted configuration in columns of numbers, in the order of the body. It takes a fraction of the memory of its
 * text. The check adds the keys of the rows, by which they can be found afterwards.
 */
export class Draft {
  readonly blockPages = new DraftBlockPages();
  readonly profiles = new DraftProfiles();
  readonly domainRules = new DraftDomainRules();
  readonly napts = new DraftNapts();
  readonly ipv4Networks = DraftNetworks.ofIpv4();
  readonly ipv6Networks = DraftNetworks.ofIpv6();
}

/** The digest of a draft that has been checked. Schedules and the catalogue are not part of it. */
export function digestOfDraft(draft: Draft): string {
  const digest = new Digest();
  const add = <K extends EntityKind>(kind: K, entity: Entities[K]): void =>
    digest.add(kind, toRow(kind, entity));
  const addNetworks = <A>(family: AddressFamily<A>, networks: DraftNetworks<A>): void => {
    for (let row = 0; row < networks.profileIds.length; row++) {
      add(family.kind, masked(family, networks.at(row)) as never);
    }
  };
  const { blockPages, profiles, domainRules, napts, ipv4Networks, ipv6Networks } = draft;
  for (let row = 0; row < blockPages.ids.length; row++) add('blockPage', blockPages.at(row));
  for (let row = 0; row < profiles.ids.length; row++) add('profile', toProfile(profiles.at(row)));
  for (let row = 0; row < domainRules.hashes.length; row++) {
    if (!domainRules.isRepeated(row)) add('domainRule', domainRules.at(row));
  }
  for (let row = 0; row < napts.addresses.length; row++) add('naptAssignment', napts.at(row));
  addNetworks(IPV4, ipv4Networks);
  addNetworks(IPV6, ipv6Networks);
  return digest.toString();
}
