-- Finds the records of changes by token and by profile, in the order of their revisions.

-- locks: a second for a million records
CREATE INDEX change_record_token_revision_idx ON change_record (token, revision);

-- The profiles that each change concerns: an index of change_record, which its triggers keep. Releases before this one
-- write records too.
CREATE TABLE change_record_profile (
  -- -1: every profile.
  profile_id integer NOT NULL,
  revision   bigint NOT NULL,
  token      text,
  PRIMARY KEY (profile_id, revision)
);
CREATE INDEX change_record_profile_profile_id_token_revision_idx
  ON change_record_profile (profile_id, token, revision);

CREATE FUNCTION change_record_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_record_profile (profile_id, revision, token)
  SELECT profile_id, revision, token
  FROM added, unnest(CASE WHEN all_profiles THEN ARRAY[-1] ELSE profile_ids END) AS profile_id;
  RETURN NULL;
END $$;

CREATE FUNCTION change_record_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM change_record_profile AS one
  USING deleted, unnest(CASE WHEN all_profiles THEN ARRAY[-1] ELSE profile_ids END) AS its
  WHERE one.profile_id = its AND one.revision = deleted.revision;
  RETURN NULL;
END $$;

CREATE TRIGGER change_record_added AFTER INSERT ON change_record REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION change_record_added();
CREATE TRIGGER change_record_deleted AFTER DELETE ON change_record REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION change_record_deleted();
-- POST /init/ turns off all other triggers.
ALTER TABLE change_record ENABLE ALWAYS TRIGGER change_record_added;
ALTER TABLE change_record ENABLE ALWAYS TRIGGER change_record_deleted;

INSERT INTO change_record_profile (profile_id, revision, token)
SELECT profile_id, revision, token
FROM change_record, unnest(CASE WHEN all_profiles THEN ARRAY[-1] ELSE profile_ids END) AS profile_id;
