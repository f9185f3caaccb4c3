ALTER TABLE insights DROP COLUMN recorded_at;
ALTER TABLE anomalies DROP COLUMN recorded_at;
