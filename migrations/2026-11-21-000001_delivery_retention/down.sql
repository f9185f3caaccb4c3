DROP INDEX job_runs_unfinished;
DROP INDEX events_age;
