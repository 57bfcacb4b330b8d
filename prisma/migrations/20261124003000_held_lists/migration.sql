ALTER TABLE catalogue_source
  -- Those of the names that would block a domain of never_block, in the same form; null: none.
  ADD COLUMN protected       bytea,
  ADD COLUMN protected_count integer,
  -- What the list was compared with when it was read: a digest of never_block and of its pin; empty: nothing.
  ADD COLUMN read_with       text NOT NULL DEFAULT '';
ALTER TABLE catalogue_source ALTER COLUMN protected SET STORAGE EXTERNAL;

-- The list of a source that nobody has accepted yet, because it is much shorter or longer than the last one.
CREATE TABLE catalogue_held (
  name            text PRIMARY KEY REFERENCES catalogue_source ON UPDATE CASCADE ON DELETE CASCADE,
  etag            text,
  last_modified   text,
  domain_count    integer NOT NULL,
  invalid_count   integer NOT NULL,
  protected_count integer NOT NULL,
  format          text NOT NULL,
  names           bytea NOT NULL,
  names_sha256    char(64) NOT NULL,
  protected       bytea,
  read_with       text NOT NULL
);
ALTER TABLE catalogue_held ALTER COLUMN names SET STORAGE EXTERNAL;
ALTER TABLE catalogue_held ALTER COLUMN protected SET STORAGE EXTERNAL;
