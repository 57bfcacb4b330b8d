-- The mirror that a list, its etag and its last_modified came from; null: from the URL or the file itself.
ALTER TABLE catalogue_source ADD COLUMN mirror text;
ALTER TABLE catalogue_held ADD COLUMN mirror text;
