-- What the management API tells of the catalogue.

-- When the image was last put in force.
ALTER TABLE catalogue_image ADD COLUMN activated_at timestamptz;

-- The groups of the definition that was read last, and which lists they name.
CREATE TABLE catalogue_definition (
  id     smallint PRIMARY KEY DEFAULT 1,
  groups jsonb NOT NULL,
  CONSTRAINT catalogue_definition_single CHECK (id = 1)
);
