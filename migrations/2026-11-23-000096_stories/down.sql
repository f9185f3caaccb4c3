DROP INDEX anomalies_story;
ALTER TABLE anomalies DROP COLUMN story_id;
DROP TABLE stories;
