-- The second voter of the bot: a language model that chooses among templates, for credits.

ALTER TABLE social_settings
    -- Whether a model is asked where the word lists are in doubt.
    ADD COLUMN model_vote boolean NOT NULL DEFAULT false;

ALTER TABLE conversation_messages
    -- When its vote is taken up next; null where it waits for none.
    ADD COLUMN vote_due_at timestamptz;
-- For finding out what waits: one of the few indexes that account_id does not lead.
CREATE INDEX conversation_messages_vote_due ON conversation_messages (vote_due_at) INCLUDE (account_id, id)
    WHERE is_undecided AND vote_due_at IS NOT NULL;

-- Votes: one a comment, reserved with its debit. The key is what keeps a comment from being paid for twice.
CREATE TABLE social_votes (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    comment_id text NOT NULL,
    -- The run that has the debit, the calls and the end of it.
    run_id bigint NOT NULL,
    -- SHA-256 of the words that were voted on.
    comment_hash bytea NOT NULL CHECK (length(comment_hash) = 32),
    -- What the model answered, once a decision went by it: a template, or that none answers the comment.
    verdict text CHECK (verdict IN ('template', 'none')),
    template_id bigint,
    reserved_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, channel, comment_id),
    CHECK ((verdict IS NOT DISTINCT FROM 'template') = (template_id IS NOT NULL))
);

-- A vote is a run that keeps its credits when it counted.
ALTER TABLE ai_runs DROP CONSTRAINT ai_runs_outcome_check;
ALTER TABLE ai_runs ADD CONSTRAINT ai_runs_outcome_check
    CHECK (outcome IN ('worded', 'refused', 'failed', 'interrupted', 'nothing_new', 'rules', 'voted'));
ALTER TABLE ai_runs DROP CONSTRAINT ai_runs_check1;
ALTER TABLE ai_runs ADD CONSTRAINT ai_runs_check1
    CHECK (outcome IS NULL OR (outcome IN ('worded', 'voted')) = (credits > 0 AND NOT refunded));
-- One run of a feature at a time, but for votes: of those there is one a comment.
DROP INDEX ai_runs_live;
CREATE UNIQUE INDEX ai_runs_live ON ai_runs (account_id, feature, (CASE feature WHEN 'social_reply' THEN id ELSE 0 END))
    WHERE state IN ('queued', 'running');
