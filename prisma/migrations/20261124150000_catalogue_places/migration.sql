-- Of each name of a list, in the order of the names, the line that lists it, and since when the list has it.
ALTER TABLE catalogue_source ADD COLUMN places bytea;
ALTER TABLE catalogue_held ADD COLUMN places bytea;
