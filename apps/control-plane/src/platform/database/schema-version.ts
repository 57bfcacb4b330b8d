/** The newest migration of this release. It works with this schema, and with later schemas that allow it. */
export const SCHEMA_VERSION = '20261124000000_init';
