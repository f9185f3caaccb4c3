-- Finds old events, whose deliveries are removed with them. They are appended in the order of time, so a summary of
-- each block will do; an index of every row would cost each event that is written.
CREATE INDEX events_age ON events USING brin (created_at) WITH (autosummarize = on);
-- Runs that have not ended well, counted for the metrics.
CREATE INDEX job_runs_unfinished ON job_runs (account_id, state, lease_until) WHERE state <> 'done';
