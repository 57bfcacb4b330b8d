-- What is known of a source outlives its place in the definition for a while, but is not told of then.
ALTER TABLE catalogue_source ADD COLUMN is_named boolean NOT NULL DEFAULT true;
