-- The configuration, its revision log and the catalogue.
--
-- What can be held by the database is held here, whatever the services above it check first: keys, references,
-- bounds, and the masked prefix of every network. Ids are integers from 0 to 2147483647, the upper end of `integer`.

-- Which releases may work on this schema: docs/operations/upgrades.md.

CREATE TABLE schema_compatibility (
  id            smallint PRIMARY KEY DEFAULT 1,
  -- The name of a migration: a release that does not know it must not start. Raised by migrations that take something
  -- away.
  min_migration text NOT NULL,
  CONSTRAINT schema_compatibility_single CHECK (id = 1)
);
INSERT INTO schema_compatibility (min_migration) VALUES ('20261129000000_init');

-- The catalogue: compiled images, and how their sources fared.

CREATE TABLE catalogue_image (
  version       bigserial PRIMARY KEY,
  sha256        char(64) NOT NULL,
  size_bytes    bigint NOT NULL,
  metadata      jsonb NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- Tells whether anything is to be compiled without compiling it.
  inputs_sha256 char(64),
  -- When it was last put in force.
  activated_at  timestamptz,
  CONSTRAINT catalogue_image_sha256_hex CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  CONSTRAINT catalogue_image_inputs_hex CHECK (inputs_sha256 ~ '^[0-9a-f]{64}$')
);
CREATE UNIQUE INDEX catalogue_image_sha256_key ON catalogue_image (sha256);

-- One value holds 1 GB at most, an image may hold more: its bytes are kept in pieces of 256 KiB, the last one shorter.
CREATE TABLE catalogue_image_piece (
  version bigint NOT NULL REFERENCES catalogue_image (version) ON DELETE CASCADE ON UPDATE CASCADE,
  number  integer NOT NULL,
  bytes   bytea NOT NULL,
  PRIMARY KEY (version, number),
  CONSTRAINT catalogue_image_piece_number CHECK (number >= 0),
  CONSTRAINT catalogue_image_piece_size CHECK (octet_length(bytes) BETWEEN 1 AND 262144)
);
-- Hashes do not compress.
ALTER TABLE catalogue_image_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE catalogue_source (
  name            text PRIMARY KEY,
  etag            text,
  last_modified   text,
  -- The mirror that the list, its etag and its last_modified came from; null: from the URL or the file itself.
  mirror          text,
  last_attempt_at timestamptz(3),
  last_success_at timestamptz(3),
  last_error      text,
  domain_count    integer,
  invalid_count   integer,
  format          text,
  -- What the source last listed is kept, as keyed hashes: a catalogue can be compiled whatever became of the source.
  names           bytea,
  names_sha256    char(64),
  failures        integer NOT NULL DEFAULT 0,
  -- What is known of a source outlives its place in the definition for a while, but is not told of then.
  is_named        boolean NOT NULL DEFAULT true,
  -- Those of the names that would block a domain of never_block, in the same form; null: none.
  protected       bytea,
  protected_count integer,
  -- What the list was compared with when it was read: a digest of never_block and of its pin; empty: nothing.
  read_with       text NOT NULL DEFAULT '',
  -- Of each name, in the order of the names, the line that lists it, and since when the list has it.
  places          bytea,
  CONSTRAINT catalogue_source_counts CHECK (domain_count >= 0 AND invalid_count >= 0),
  CONSTRAINT catalogue_source_names_whole CHECK ((names IS NULL) = (names_sha256 IS NULL)),
  CONSTRAINT catalogue_source_sha256_hex CHECK (names_sha256 ~ '^[0-9a-f]{64}$'),
  CONSTRAINT catalogue_source_failures CHECK (failures >= 0)
);
-- What is not compressed can be read in pieces. Hashes do not compress anyway.
ALTER TABLE catalogue_source ALTER COLUMN names SET STORAGE EXTERNAL;
ALTER TABLE catalogue_source ALTER COLUMN protected SET STORAGE EXTERNAL;
ALTER TABLE catalogue_source ALTER COLUMN places SET STORAGE EXTERNAL;

-- The list of a source that nobody has accepted yet, because it is much shorter or longer than the last one.
CREATE TABLE catalogue_held (
  name            text PRIMARY KEY REFERENCES catalogue_source ON UPDATE CASCADE ON DELETE CASCADE,
  etag            text,
  last_modified   text,
  mirror          text,
  domain_count    integer NOT NULL,
  invalid_count   integer NOT NULL,
  protected_count integer NOT NULL,
  format          text NOT NULL,
  names           bytea NOT NULL,
  names_sha256    char(64) NOT NULL,
  protected       bytea,
  read_with       text NOT NULL,
  places          bytea
);
ALTER TABLE catalogue_held ALTER COLUMN names SET STORAGE EXTERNAL;
ALTER TABLE catalogue_held ALTER COLUMN protected SET STORAGE EXTERNAL;
ALTER TABLE catalogue_held ALTER COLUMN places SET STORAGE EXTERNAL;

-- The groups of the definition that was read last, and which lists they name.
CREATE TABLE catalogue_definition (
  id     smallint PRIMARY KEY DEFAULT 1,
  groups jsonb NOT NULL,
  CONSTRAINT catalogue_definition_single CHECK (id = 1)
);

-- The revision log. Every change locks the one row of config_head.

CREATE TABLE config_head (
  id                smallint PRIMARY KEY DEFAULT 1,
  revision          bigint NOT NULL DEFAULT 0,
  digest            char(16) NOT NULL,
  catalogue_version bigint REFERENCES catalogue_image (version) ON DELETE RESTRICT ON UPDATE CASCADE,
  -- The hash of one fixed name under the deployment's DOMAIN_HASH_KEY, noted by the first control plane that starts:
  -- under another key every stored domain rule would silently match nothing.
  domain_hash_check bigint,
  -- Tells one log of changes from another that has the same numbers: a database that was restored goes on from an
  -- earlier revision, and what follows it must not take that for what it knows. New with each database and each
  -- restore.
  lineage           uuid NOT NULL DEFAULT gen_random_uuid(),
  CONSTRAINT config_head_single CHECK (id = 1),
  CONSTRAINT config_head_revision CHECK (revision BETWEEN 0 AND 9007199254740991),
  CONSTRAINT config_head_digest_hex CHECK (digest ~ '^[0-9a-f]{16}$'),
  CONSTRAINT config_head_domain_hash_check CHECK (domain_hash_check BETWEEN 0 AND 9007199254740991)
);
INSERT INTO config_head (digest) VALUES ('0000000000000000');

CREATE TABLE change (
  revision   bigint PRIMARY KEY,
  digest     char(16) NOT NULL,
  operations jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT change_revision CHECK (revision > 0),
  CONSTRAINT change_digest_hex CHECK (digest ~ '^[0-9a-f]{16}$'),
  CONSTRAINT change_operations_array CHECK (jsonb_typeof(operations) = 'array')
);

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
  -- The profiles that it concerns; {-1}: every one.
  profile_ids  integer[] NOT NULL,
  CONSTRAINT change_record_revision CHECK (revision > 0),
  CONSTRAINT change_record_origin CHECK (origin IN ('api', 'catalogue', 'repair', 'expiry')),
  CONSTRAINT change_record_call CHECK (
    CASE origin WHEN 'api' THEN num_nulls(token, request_id, method, route) = 0
                ELSE num_nonnulls(token, source, request_id, method, route) = 0 END),
  CONSTRAINT change_record_keys CHECK (jsonb_array_length(keys) <= least(key_count, 100))
);
CREATE INDEX change_record_token_revision_idx ON change_record (token, revision);
-- Who wrote an entity last. Every look-up reads the list of pending entries, so it is the shortest that there is.
CREATE INDEX change_record_keys_idx ON change_record USING gin (keys jsonb_path_ops)
  WITH (gin_pending_list_limit = 64);
-- The changes that may have written more than their keys tell.
CREATE INDEX change_record_long_idx ON change_record (revision) WHERE key_count > 100;

-- The profiles that each change concerns: an index of change_record. The statement that writes or deletes a record
-- does the same here. There is no foreign key, because PostgreSQL would check it row by row.
CREATE TABLE change_record_profile (
  profile_id integer NOT NULL,
  revision   bigint NOT NULL,
  token      text,
  PRIMARY KEY (profile_id, revision)
);
CREATE INDEX change_record_profile_profile_id_token_revision_idx
  ON change_record_profile (profile_id, token, revision);

-- When each background job last began. Its advisory lock says whether it runs now.
CREATE TABLE job_run (
  name            text PRIMARY KEY,
  last_started_at timestamptz NOT NULL,
  -- Runs since the last that succeeded, the current one included.
  failures        integer NOT NULL
);

-- Profiles and what belongs to them.

CREATE TABLE block_page (
  id   integer PRIMARY KEY,
  type smallint NOT NULL,
  CONSTRAINT block_page_id CHECK (id >= 0),
  CONSTRAINT block_page_type CHECK (type IN (0, 1))
);

-- Whether a list of ids is a set in its one written form: from 0, ascending, each once.
CREATE FUNCTION is_id_set(ids integer[]) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN array_position(ids, NULL) IS NULL
     AND COALESCE(ids[1] >= 0, true)
     AND NOT EXISTS (SELECT FROM unnest(ids[:cardinality(ids) - 1], ids[2:]) AS pair (id, next) WHERE id >= next);

CREATE TABLE profile (
  id                             integer PRIMARY KEY,
  page_id                        integer REFERENCES block_page (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  white_list_only                boolean NOT NULL DEFAULT false,
  empty_dns_answer               boolean NOT NULL DEFAULT false,
  appaware_priority_over_bwlists boolean NOT NULL DEFAULT false,
  category_ids                   integer[] NOT NULL DEFAULT '{}',
  CONSTRAINT profile_id CHECK (id >= 0),
  CONSTRAINT profile_category_ids_set CHECK (is_id_set(category_ids))
);
CREATE INDEX profile_page_id_idx ON profile (page_id);

-- A verdict is 1 for allow and 2 for deny.

CREATE TABLE application_rule (
  profile_id     integer NOT NULL REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  application_id integer NOT NULL,
  verdict        smallint NOT NULL,
  PRIMARY KEY (profile_id, application_id),
  CONSTRAINT application_rule_application_id CHECK (application_id >= 0),
  CONSTRAINT application_rule_verdict CHECK (verdict IN (1, 2))
);

CREATE TABLE domain_rule (
  profile_id  integer NOT NULL REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  domain_hash bigint NOT NULL,
  verdict     smallint NOT NULL,
  PRIMARY KEY (profile_id, domain_hash),
  CONSTRAINT domain_rule_hash CHECK (domain_hash BETWEEN 0 AND 9007199254740991),
  CONSTRAINT domain_rule_verdict CHECK (verdict IN (1, 2))
);

-- What a profile has for a while (docs/decisions.md, 15).
CREATE TABLE domain_grant (
  profile_id  integer NOT NULL REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  domain_hash bigint NOT NULL,
  verdict     smallint NOT NULL,
  -- One that has ended stays until a job deletes it.
  until       timestamptz(0) NOT NULL,
  PRIMARY KEY (profile_id, domain_hash),
  CONSTRAINT domain_grant_hash CHECK (domain_hash BETWEEN 0 AND 9007199254740991),
  CONSTRAINT domain_grant_verdict CHECK (verdict IN (1, 2))
);
-- What has ended.
CREATE INDEX domain_grant_until_idx ON domain_grant (until);

CREATE TABLE schedule (
  profile_id        integer PRIMARY KEY REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  target_profile_id integer NOT NULL REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  periods           jsonb NOT NULL,
  CONSTRAINT schedule_target_differs CHECK (profile_id <> target_profile_id),
  CONSTRAINT schedule_periods_array CHECK (jsonb_typeof(periods) = 'array')
);
CREATE INDEX schedule_target_profile_id_idx ON schedule (target_profile_id);

-- Who belongs to which profile. When a profile goes, PostgreSQL looks for what still refers to it: without the
-- indexes on profile_id it reads the whole table for each profile, which takes hours when a configuration of ten
-- thousand profiles is replaced. With the address, they give the pages of what a profile has.

CREATE TABLE ipv4_network (
  address       inet PRIMARY KEY,
  prefix_length smallint NOT NULL DEFAULT 32,
  network       cidr GENERATED ALWAYS AS (network(set_masklen(address, prefix_length))) STORED,
  profile_id    integer NOT NULL REFERENCES profile (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT ipv4_network_address CHECK (family(address) = 4 AND masklen(address) = 32),
  CONSTRAINT ipv4_network_prefix_length CHECK (prefix_length BETWEEN 10 AND 32)
);
CREATE UNIQUE INDEX ipv4_network_network_key ON ipv4_network (network);
CREATE INDEX ipv4_network_profile_id_address_idx ON ipv4_network (profile_id, address);

CREATE TABLE ipv6_network (
  address       inet PRIMARY KEY,
  prefix_length smallint NOT NULL DEFAULT 128,
  network       cidr GENERATED ALWAYS AS (network(set_masklen(address, prefix_length))) STORED,
  profile_id    integer NOT NULL REFERENCES profile (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  -- An IPv4-mapped address counts as the IPv4 address, so it never stands here.
  CONSTRAINT ipv6_network_address
    CHECK (family(address) = 6 AND masklen(address) = 128 AND NOT address <<= '::ffff:0:0/96'),
  CONSTRAINT ipv6_network_prefix_length CHECK (prefix_length BETWEEN 16 AND 128)
);
CREATE UNIQUE INDEX ipv6_network_network_key ON ipv6_network (network);
CREATE INDEX ipv6_network_profile_id_address_idx ON ipv6_network (profile_id, address);

CREATE TABLE napt_assignment (
  address    inet NOT NULL,
  lower_port integer NOT NULL,
  upper_port integer NOT NULL,
  profile_id integer NOT NULL REFERENCES profile (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  PRIMARY KEY (address, lower_port, upper_port),
  CONSTRAINT napt_assignment_address CHECK (family(address) = 4 AND masklen(address) = 32),
  CONSTRAINT napt_assignment_ports CHECK (0 <= lower_port AND lower_port <= upper_port AND upper_port <= 65535)
);
CREATE INDEX napt_assignment_profile_id_address_lower_port_upper_port_idx
  ON napt_assignment (profile_id, address, lower_port, upper_port);

-- Orders, which everybody is denied by (docs/decisions.md, 14).

CREATE TABLE domain_order (
  id          integer PRIMARY KEY,
  domain_hash bigint NOT NULL,
  -- Who ordered it, and under which number: texts for the block page.
  authority   text NOT NULL,
  reference   text NOT NULL,
  -- Null: no end. An order that has ended stays until it is deleted.
  until       timestamptz(0),
  -- Of its last change.
  revision    bigint NOT NULL,
  -- What the resolvers acknowledged of its last change: {revision, k, m, at}. Null: not known. Followers never see it.
  in_force    jsonb,
  CONSTRAINT domain_order_id CHECK (id >= 0),
  CONSTRAINT domain_order_hash CHECK (domain_hash BETWEEN 0 AND 9007199254740991),
  CONSTRAINT domain_order_texts
    CHECK (char_length(authority) BETWEEN 1 AND 200 AND char_length(reference) BETWEEN 1 AND 200)
);

-- For GET /explain/.
CREATE INDEX domain_order_domain_hash_idx ON domain_order (domain_hash);
