ALTER TABLE insights DROP COLUMN story_id;
ALTER TABLE insights DROP COLUMN at_stake;
ALTER TABLE insights DROP COLUMN is_told;
