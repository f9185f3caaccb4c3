ALTER TABLE insights DROP COLUMN weight;
