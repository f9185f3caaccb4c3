ALTER TABLE anomalies
    DROP COLUMN cause,
    DROP COLUMN drivers;
