-- Whether a critical crossing pauses access where auto-pause is on: until an administrator resumes it, and again when he
-- changes the threshold or switches auto-pause on. What was crossed before has paused access already.
ALTER TABLE ai_crossings ADD COLUMN pauses boolean NOT NULL DEFAULT false;
