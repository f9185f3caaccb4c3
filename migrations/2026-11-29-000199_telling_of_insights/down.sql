ALTER TABLE insights DROP COLUMN told_at;
