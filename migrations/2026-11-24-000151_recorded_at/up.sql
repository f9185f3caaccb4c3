-- When a row was first written: what is new to a person. `detected_at` is the end of the day that an anomaly is of, and
-- `computed_at` moves with the figures of an insight.
ALTER TABLE anomalies ADD COLUMN recorded_at timestamptz NOT NULL DEFAULT now();
UPDATE anomalies SET recorded_at = detected_at;
ALTER TABLE insights ADD COLUMN recorded_at timestamptz NOT NULL DEFAULT now();
UPDATE insights SET recorded_at = computed_at;
