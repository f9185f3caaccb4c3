ALTER TABLE ai_crossings DROP COLUMN pauses;
