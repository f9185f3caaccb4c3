ALTER TABLE accounts DROP COLUMN country;
ALTER TABLE accounts DROP COLUMN language;
