-- The hash of one fixed name under the deployment's DOMAIN_HASH_KEY, noted by the first control plane that starts: under another key every
-- stored domain rule would silently match nothing.
ALTER TABLE config_head
  ADD COLUMN domain_hash_check bigint,
  ADD CONSTRAINT config_head_domain_hash_check CHECK (domain_hash_check BETWEEN 0 AND 9007199254740991);
