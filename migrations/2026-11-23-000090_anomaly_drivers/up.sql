-- What a deviation is made of: [{level, metric, dimension, part, effect, share, observed, expected, direction}], and what
-- kind of lever its cause is, such as `platform`, `price` or `closed_day`; null where it is unknown.
ALTER TABLE anomalies
    ADD COLUMN drivers jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN cause text;
