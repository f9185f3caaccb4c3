-- When an insight was first among the few that are told unasked, where that was later than it was first written. NULL: then, or not
-- yet.
ALTER TABLE insights ADD COLUMN told_at timestamptz;
