-- Who made each change, and what it changed. It outlives the row of the change in the log.
CREATE TABLE change_record (
  revision     bigint PRIMARY KEY,
  -- Of the transaction, as in the log.
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  origin       text NOT NULL,
  -- Of a call of the management API; null for all other changes.
  token        text,
  source       inet,
  request_id   text,
  method       text,
  route        text,
  -- At most 100 of the keys that it changed, and how many there are.
  keys         jsonb NOT NULL,
  key_count    integer NOT NULL,
  profile_ids  integer[] NOT NULL,
  all_profiles boolean NOT NULL,
  CONSTRAINT change_record_revision CHECK (revision > 0),
  CONSTRAINT change_record_origin CHECK (origin IN ('api', 'catalogue', 'repair')),
  CONSTRAINT change_record_call CHECK (
    CASE origin WHEN 'api' THEN num_nulls(token, request_id, method, route) = 0
                ELSE num_nonnulls(token, source, request_id, method, route) = 0 END),
  CONSTRAINT change_record_keys CHECK (jsonb_array_length(keys) <= least(key_count, 100))
);
