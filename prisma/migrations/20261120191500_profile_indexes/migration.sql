-- When a profile goes, PostgreSQL looks for what still refers to it: without these it reads the whole table for each profile, which
-- takes hours when a configuration of ten thousand profiles is replaced.
CREATE INDEX ipv4_network_profile_id_idx ON ipv4_network (profile_id);
CREATE INDEX ipv6_network_profile_id_idx ON ipv6_network (profile_id);
CREATE INDEX napt_assignment_profile_id_idx ON napt_assignment (profile_id);
