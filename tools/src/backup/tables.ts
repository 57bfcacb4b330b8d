/** Name of the first row of a backup, which tells what it is. */
export const FORMAT = 'weir-backup-1';

/** The table with the one row that every change locks. A backup has it in its first row. */
export const HEAD_TABLE = 'config_head';

/** The tables of a backup. Each comes after the tables that it refers to. */
export const BACKUP_TABLES = [
  'catalogue_source',
  'catalogue_held',
  'catalogue_image',
  'catalogue_image_piece',
  'block_page',
  'profile',
  'application_rule',
  'domain_rule',
  'ipv4_network',
  'ipv6_network',
  'napt_assignment',
  'schedule',
  'change_record',
] as const;

/**
 * Tables that a backup omits: those of the schema, which the migrations create again, the change log, because
 * followers of a restored database load a snapshot, and when background jobs last ran: they run once more.
 */
export const OMITTED_TABLES = [
  '_prisma_migrations',
  'schema_compatibility',
  'change',
  'job_run',
] as const;
