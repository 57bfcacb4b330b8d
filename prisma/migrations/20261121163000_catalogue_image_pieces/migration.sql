-- One value holds 1 GB at most, an image may hold more: it is kept in pieces of 256 KiB, the last one shorter.
CREATE TABLE catalogue_image_piece (
  version bigint NOT NULL REFERENCES catalogue_image (version) ON DELETE CASCADE ON UPDATE CASCADE,
  number  integer NOT NULL,
  bytes   bytea NOT NULL,
  PRIMARY KEY (version, number),
  CONSTRAINT catalogue_image_piece_number CHECK (number >= 0),
  CONSTRAINT catalogue_image_piece_size CHECK (octet_length(bytes) BETWEEN 1 AND 262144)
);
ALTER TABLE catalogue_image_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;

INSERT INTO catalogue_image_piece (version, number, bytes)
SELECT version, number, substring(image FROM number * 262144 + 1 FOR 262144)
FROM catalogue_image, generate_series(0, ((size_bytes - 1) / 262144)::integer) AS number;

-- Written no more; what stands there goes with its row.
ALTER TABLE catalogue_image ALTER COLUMN image DROP NOT NULL;
