-- What a catalogue source last listed is kept, as keyed hashes: a catalogue can be compiled whatever became of the source.
ALTER TABLE catalogue_source
  ADD COLUMN format       text,
  ADD COLUMN names        bytea,
  ADD COLUMN names_sha256 char(64),
  ADD COLUMN failures     integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT catalogue_source_names_whole CHECK ((names IS NULL) = (names_sha256 IS NULL)),
  ADD CONSTRAINT catalogue_source_sha256_hex CHECK (names_sha256 ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT catalogue_source_failures CHECK (failures >= 0);
-- Hashes do not compress, and uncompressed they can be read in pieces.
ALTER TABLE catalogue_source ALTER COLUMN names SET STORAGE EXTERNAL;

-- Tells whether anything is to be compiled without compiling it. Null: compiled by an earlier version.
ALTER TABLE catalogue_image
  ADD COLUMN inputs_sha256 char(64),
  ADD CONSTRAINT catalogue_image_inputs_hex CHECK (inputs_sha256 ~ '^[0-9a-f]{64}$');
