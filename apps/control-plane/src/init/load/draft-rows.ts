import type { Digest, DomainRule, Entities, EntityKind, Profile } from '@weir/config-model';
import { toRow } from '@weir/config-model';
import type { CopyText } from '../../platform/database/copy-in.js';
import type { AddressFamily } from '../../resources/networks/addresses/address-family.js';
import { IPV4, IPV6 } from '../../resources/networks/addresses/address-family.js';
import { formatIpv4 } from '../../resources/networks/addresses/ipv4.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { Draft, DraftNetworks } from '../draft/draft-tables.js';
import { type Yielder, ROWS_PER_YIELD } from '../../platform/yielder.js';
import type { TableName } from './tables.js';

const CHUNK_CHARACTERS = 65_536;

/** Writes a draft as rows of the database, and adds each entity to the digest. Read each table exactly once. */
export class DraftRows {
  constructor(
    private readonly draft: Draft,
    private readonly digest: Digest,
    private readonly yielder: Yielder,
  ) {}

  /** The rows of a table, with its columns in the order of `TABLES`. */
  of(table: TableName): CopyText {
    switch (table) {
      case 'block_page':
        return this.blockPages();
      case 'profile':
        return this.profiles();
      case 'application_rule':
        return this.applicationRules();
      case 'domain_rule':
        return this.domainRules();
      case 'napt_assignment':
        return this.napts();
      case 'ipv4_network':
        return this.networks(IPV4, this.draft.ipv4Networks);
      case 'ipv6_network':
        return this.networks(IPV6, this.draft.ipv6Networks);
    }
  }

  /** The number of rows of a table at most: a rule may be repeated. */
  countOf(table: TableName): number {
    const { blockPages, profiles, domainRules, napts, ipv4Networks, ipv6Networks } = this.draft;
    switch (table) {
      case 'block_page':
        return blockPages.ids.length;
      case 'profile':
        return profiles.ids.length;
      case 'application_rule':
        return profiles.applications.length;
      case 'domain_rule':
        return domainRules.hashes.length;
      case 'napt_assignment':
        return napts.profileIds.length;
      case 'ipv4_network':
        return ipv4Networks.profileIds.length;
      case 'ipv6_network':
        return ipv6Networks.profileIds.length;
    }
  }

  private blockPages(): CopyText {
    const { blockPages } = this.draft;
    return this.lines(blockPages.ids.length, (row) => {
      const page = blockPages.at(row);
      this.addToDigest('blockPage', page);
      return line(page.id, page.type);
    });
  }

  private profiles(): CopyText {
    return this.lines(this.draft.profiles.ids.length, (row) => {
      const profile = this.profileAt(row);
      this.addToDigest('profile', profile);
      return line(
        profile.id,
        profile.pageId ?? '\\N',
        profile.whiteListOnly,
        profile.emptyDnsAnswer,
        profile.appawarePriorityOverBwlists,
        `{${profile.categoryIds.join(',')}}`,
      );
    });
  }

  private applicationRules(): CopyText {
    return this.lines(this.draft.profiles.ids.length, (row) => {
      const { id, applicationRules } = this.profileAt(row);
      return applicationRules.map((rule) => line(id, rule.applicationId, rule.verdict)).join('');
    });
  }

  private profileAt(row: number): Profile {
    return toProfile(this.draft.profiles.at(row));
  }

  private domainRules(): CopyText {
    const { domainRules } = this.draft;
    return this.lines(domainRules.hashes.length, (row) => {
      if (domainRules.isRepeated(row)) return '';
      const rule: DomainRule = {
        profileId: domainRules.profileIdOf(row),
        domainHash: domainRules.hashes.at(row),
        verdict: domainRules.verdictOf(row),
      };
      this.addToDigest('domainRule', rule);
      return line(rule.profileId, rule.domainHash, rule.verdict);
    });
  }

  private napts(): CopyText {
    const { napts } = this.draft;
    return this.lines(napts.addresses.length, (row) => {
      const napt = napts.at(row);
      this.addToDigest('naptAssignment', napt);
      return line(formatIpv4(napt.address), napt.lowerPort, napt.upperPort, napt.profileId);
    });
  }

  private networks<A>(family: AddressFamily<A>, networks: DraftNetworks<A>): CopyText {
    return this.lines(networks.profileIds.length, (row) => {
      const record = networks.at(row);
      this.addToDigest(
        family.kind,
        masked(family, record) as unknown as Entities[typeof family.kind],
      );
      return line(family.format(record.address), record.prefixLength, record.profileId);
    });
  }

  private addToDigest<K extends EntityKind>(kind: K, entity: Entities[K]): void {
    this.digest.add(kind, toRow(kind, entity));
  }

  private async *lines(count: number, text: (row: number) => string): CopyText {
    let chunk = '';
    for (let row = 0; row < count; row++) {
      if (row % ROWS_PER_YIELD === 0) await this.yielder.yieldIfDue();
      chunk += text(row);
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
}

/** One row in the text format of COPY. The values contain nothing that needs an escape. */
function line(...values: readonly (string | number | boolean)[]): string {
  return `${values.join('\t')}\n`;
}
