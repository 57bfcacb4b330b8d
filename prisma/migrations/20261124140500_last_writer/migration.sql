-- Finds the change that made what decides about a name.

-- Who wrote an entity last. Without a list of pending entries, which every look-up would read.
-- locks: half a minute for a million records
CREATE INDEX change_record_keys_idx ON change_record USING gin (keys jsonb_path_ops) WITH (fastupdate = off);
-- locks: a second for a million records. The changes that may have written more than their keys tell.
CREATE INDEX change_record_long_idx ON change_record (revision) WHERE key_count > 100;
