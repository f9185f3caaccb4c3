DROP TABLE job_results;
ALTER TABLE roll_ups DROP COLUMN version;
