ALTER TABLE anomalies DROP COLUMN first_day, DROP COLUMN last_day;
