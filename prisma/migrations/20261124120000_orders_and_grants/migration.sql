-- Orders, which everybody is denied by, and grants, which a profile has for a while (docs/decisions.md, 14 and 15).

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

CREATE TABLE domain_grant (
  profile_id  integer NOT NULL REFERENCES profile (id) ON DELETE CASCADE ON UPDATE CASCADE,
  domain_hash bigint NOT NULL,
  -- 1 for allow and 2 for deny.
  verdict     smallint NOT NULL,
  -- One that has ended stays until a job deletes it.
  until       timestamptz(0) NOT NULL,
  PRIMARY KEY (profile_id, domain_hash),
  CONSTRAINT domain_grant_hash CHECK (domain_hash BETWEEN 0 AND 9007199254740991),
  CONSTRAINT domain_grant_verdict CHECK (verdict IN (1, 2))
);
-- What has ended.
CREATE INDEX domain_grant_until_idx ON domain_grant (until);
