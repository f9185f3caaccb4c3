DROP TABLE ai_access_log, ai_crossings, ai_limits, ai_calls, ai_runs;
ALTER TABLE insights DROP COLUMN basis, DROP COLUMN decided_at;
