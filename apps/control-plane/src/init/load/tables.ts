/** A table that POST /init/ fills. */
export interface Table {
  readonly name: TableName;
  readonly key: readonly string[];
  /** The columns besides the key. */
  readonly values: readonly string[];
}

export type TableName =
  | 'block_page'
  | 'profile'
  | 'application_rule'
  | 'domain_rule'
  | 'napt_assignment'
  | 'ipv4_network'
  | 'ipv6_network';

/** Referenced tables come before the tables that refer to them. */
export const TABLES: readonly Table[] = [
  { name: 'block_page', key: ['id'], values: ['type'] },
  {
    name: 'profile',
    key: ['id'],
    values: [
      'page_id',
      'white_list_only',
      'empty_dns_answer',
      'appaware_priority_over_bwlists',
      'category_ids',
    ],
  },
  { name: 'application_rule', key: ['profile_id', 'application_id'], values: ['verdict'] },
  { name: 'domain_rule', key: ['profile_id', 'domain_hash'], values: ['verdict'] },
  {
    name: 'napt_assignment',
    key: ['address', 'lower_port', 'upper_port'],
    values: ['profile_id'],
  },
  { name: 'ipv4_network', key: ['address'], values: ['prefix_length', 'profile_id'] },
  { name: 'ipv6_network', key: ['address'], values: ['prefix_length', 'profile_id'] },
];

export const REFERENCES: readonly {
  readonly table: TableName;
  readonly column: string;
  readonly to: 'block_page' | 'profile';
}[] = [
  { table: 'profile', column: 'page_id', to: 'block_page' },
  ...(
    ['application_rule', 'domain_rule', 'napt_assignment', 'ipv4_network', 'ipv6_network'] as const
  ).map((table) => ({ table, column: 'profile_id', to: 'profile' }) as const),
];
