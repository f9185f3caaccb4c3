ALTER TABLE insights DROP COLUMN language;
ALTER TABLE insights DROP COLUMN facts;
