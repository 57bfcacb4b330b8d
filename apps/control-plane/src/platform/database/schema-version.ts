/** The newest migration of this release: it works on the schema that this one leaves, and on later ones that let it. */
export const SCHEMA_VERSION = '20261122060000_lineage';
