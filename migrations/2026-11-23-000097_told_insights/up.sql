-- Whether an insight is among the few that are told unasked, how much money is at stake (null where it is not known), and
-- the story that it tells, if it tells one.
ALTER TABLE insights ADD COLUMN is_told boolean NOT NULL DEFAULT true;
ALTER TABLE insights ADD COLUMN at_stake double precision;
ALTER TABLE insights ADD CONSTRAINT insights_at_stake CHECK (at_stake >= 0);
ALTER TABLE insights ADD COLUMN story_id bigint;
