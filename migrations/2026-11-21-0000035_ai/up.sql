-- Language models: what was asked, what it cost, who may ask; and the texts that came of it.

ALTER TABLE insights
    -- SHA-256 of the rules' texts that a model's text was made from: the same situation is not worded twice.
    ADD COLUMN basis bytea CHECK (length(basis) = 32),
    -- When a person last put it to a status; null for what only the job did.
    ADD COLUMN decided_at timestamptz;

-- Runs of AI features. The debit of a run and its row are one transaction, and so are its end and its refund.
CREATE TABLE ai_runs (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    feature text NOT NULL,
    trigger text NOT NULL CHECK (trigger IN ('request', 'schedule')),
    state text NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    -- How it ended: `worded` keeps its credits, everything else has none or gave them back.
    outcome text CHECK (outcome IN ('worded', 'refused', 'failed', 'interrupted', 'nothing_new', 'rules')),
    -- Why it was not worded, for operators.
    reason text,
    -- Credits debited when it was asked for.
    credits bigint NOT NULL CHECK (credits >= 0),
    refunded boolean NOT NULL DEFAULT false,
    -- Rises with every claim and guards every write of its holder.
    claim bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id),
    CHECK ((state IN ('done', 'failed')) = (outcome IS NOT NULL)),
    CHECK (outcome IS NULL OR (outcome = 'worded') = (credits > 0 AND NOT refunded))
);
-- One run of a feature at a time.
CREATE UNIQUE INDEX ai_runs_live ON ai_runs (account_id, feature) WHERE state IN ('queued', 'running');
-- For finding out what waits and whose holder died: one of the few indexes that account_id does not lead.
CREATE INDEX ai_runs_due ON ai_runs (created_at) INCLUDE (account_id, id, state, lease_until)
    WHERE state IN ('queued', 'running');

-- Calls of a provider. Written before the call with the most that it can cost, and with what it did cost after it.
CREATE TABLE ai_calls (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    run_id bigint NOT NULL,
    model text NOT NULL,
    -- Null while it is under way, and for ever when its process died.
    finished_at timestamptz,
    error text,
    prompt_tokens bigint NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
    cost_usd numeric(24, 12) NOT NULL CHECK (cost_usd >= 0),
    -- The provider did not say; tokens and cost are an upper bound.
    estimated boolean NOT NULL,
    started_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, run_id) REFERENCES ai_runs (account_id, id)
);
CREATE INDEX ai_calls_started ON ai_calls (account_id, started_at);

-- From which monthly cost an account is warned and paused, where it is not the default.
CREATE TABLE ai_limits (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    warning_usd numeric(14, 4) NOT NULL CHECK (warning_usd > 0),
    critical_usd numeric(14, 4) NOT NULL CHECK (critical_usd >= warning_usd),
    auto_pause boolean NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Thresholds that were crossed: once a month and severity.
CREATE TABLE ai_crossings (
    account_id bigint NOT NULL REFERENCES accounts (id),
    month date NOT NULL,
    severity text NOT NULL CHECK (severity IN ('warning', 'critical')),
    cost_usd numeric(24, 12) NOT NULL,
    threshold_usd numeric(14, 4) NOT NULL,
    crossed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, month, severity)
);

-- Who paused, resumed or limited AI access, when and why. Rows are never changed or removed.
CREATE TABLE ai_access_log (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    action text NOT NULL CHECK (action IN ('pause', 'resume', 'limits')),
    reason text,
    done_by text NOT NULL,
    by_kind text NOT NULL CHECK (by_kind IN ('system', 'admin')),
    -- The month's cost and the threshold, where they were the reason; the new limits as JSON, where they were changed.
    cost_usd numeric(24, 12),
    threshold_usd numeric(14, 4),
    detail jsonb,
    done_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);
