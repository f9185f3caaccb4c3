DROP INDEX ai_runs_live;
DELETE FROM ai_calls c USING ai_runs r
WHERE r.account_id = c.account_id AND r.id = c.run_id AND r.feature = 'social_reply';
DELETE FROM ai_runs WHERE feature = 'social_reply';
CREATE UNIQUE INDEX ai_runs_live ON ai_runs (account_id, feature) WHERE state IN ('queued', 'running');
ALTER TABLE ai_runs DROP CONSTRAINT ai_runs_check1;
ALTER TABLE ai_runs ADD CONSTRAINT ai_runs_check1
    CHECK (outcome IS NULL OR (outcome = 'worded') = (credits > 0 AND NOT refunded));
ALTER TABLE ai_runs DROP CONSTRAINT ai_runs_outcome_check;
ALTER TABLE ai_runs ADD CONSTRAINT ai_runs_outcome_check
    CHECK (outcome IN ('worded', 'refused', 'failed', 'interrupted', 'nothing_new', 'rules'));
DROP TABLE social_votes;
DROP INDEX conversation_messages_vote_due;
ALTER TABLE conversation_messages DROP COLUMN vote_due_at;
ALTER TABLE social_settings DROP COLUMN model_vote;
