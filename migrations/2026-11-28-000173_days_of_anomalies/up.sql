-- The days that an anomaly spans; NULL where it was kept before they were: its day alone.
ALTER TABLE anomalies ADD COLUMN first_day date, ADD COLUMN last_day date;
