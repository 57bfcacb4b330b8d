import {
  Digest,
  type Entities,
  type EntityKind,
  type Ipv4Network,
  type Ipv6Network,
  toRow,
} from '@weir/config-model';
import { IPV4, IPV6 } from '../../resources/networks/addresses/addresses.js';
import { masked } from '../../resources/networks/prefixes/network-store.js';
import { DraftDomainRules } from './draft-domain-rules.js';
import { DraftProfiles } from './draft-profiles.js';
import { DraftTable, type TableDefinition } from './draft-table.js';

const BLOCK_PAGES: TableDefinition<'blockPage'> = {
  kind: 'blockPage',
  name: 'block_page',
  columns: { id: 'integer', type: 'smallint' },
  keyColumns: 1,
  isReferred: true,
};

const NAPT_ASSIGNMENTS: TableDefinition<'naptAssignment'> = {
  kind: 'naptAssignment',
  name: 'napt_assignment',
  columns: { address: 'ipv4', lower_port: 'integer', upper_port: 'integer', profile_id: 'integer' },
  keyColumns: 3,
};

const IPV4_NETWORKS: TableDefinition<'ipv4Network'> = {
  kind: 'ipv4Network',
  name: 'ipv4_network',
  columns: { address: 'ipv4', prefix_length: 'smallint', profile_id: 'integer' },
  keyColumns: 1,
};

const IPV6_NETWORKS: TableDefinition<'ipv6Network'> = {
  kind: 'ipv6Network',
  name: 'ipv6_network',
  columns: { address: 'ipv6', prefix_length: 'smallint', profile_id: 'integer' },
  keyColumns: 1,
};

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
export function toEntity(kind: EntityKind, record: object): Entities[EntityKind] {
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
