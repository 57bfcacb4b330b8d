/** A table that others refer to. */
export type ReferredTableName = 'block_page' | 'profile';

/** A table that nothing refers to. */
export type ComparedTableName =
  'application_rule' | 'domain_rule' | 'napt_assignment' | 'ipv4_network' | 'ipv6_network';

/** A table that POST /init/ fills. */
export type TableName = ReferredTableName | ComparedTableName;

export const REFERENCES: readonly {
  readonly table: TableName;
  readonly column: string;
  readonly to: ReferredTableName;
}[] = [
  { table: 'profile', column: 'page_id', to: 'block_page' },
  ...(
    ['application_rule', 'domain_rule', 'napt_assignment', 'ipv4_network', 'ipv6_network'] as const
  ).map((table) => ({ table, column: 'profile_id', to: 'profile' }) as const),
];
