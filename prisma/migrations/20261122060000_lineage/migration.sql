-- Tells one log of changes from another that has the same numbers: a database that was restored goes on from an
-- earlier revision, and what follows it must not take that for what it knows. New with each database and each
-- restore.
ALTER TABLE config_head ADD COLUMN lineage uuid NOT NULL DEFAULT gen_random_uuid();
