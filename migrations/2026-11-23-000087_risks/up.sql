-- What may go wrong within a month, as the job `risk_assessment` found it: one row a subject, kept while the risk lasts.
-- Texts are not kept: they are written from kind, label and evidence when they are read.
CREATE TABLE risks (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('stockout', 'dead_stock', 'churn', 'customer_concentration', 'sku_concentration',
        'channel_concentration', 'refund_spike', 'margin_drop', 'ad_waste', 'ad_fatigue', 'integration_stale',
        'low_credits', 'webhooks_failing', 'unanswered_conversations')),
    -- What it is about among those of its kind, and for people.
    subject text NOT NULL,
    label text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    likelihood numeric(5, 4) CHECK (likelihood BETWEEN 0 AND 1),
    -- Contribution that may be lost: the 20 % quantile, the mean and the 80 % quantile; each null where it is not known.
    exposure_low numeric(18, 4) CHECK (exposure_low >= 0),
    exposure_expected numeric(18, 4) CHECK (exposure_expected >= exposure_low),
    exposure_high numeric(18, 4) CHECK (exposure_high >= exposure_low AND exposure_high >= exposure_expected),
    -- No amount because unit costs are unknown.
    lacks_costs boolean NOT NULL,
    -- What was measured: [{metric, value, threshold}].
    evidence jsonb NOT NULL CHECK (jsonb_typeof(evidence) = 'array'),
    -- What the amounts take for granted, by name.
    assumptions jsonb NOT NULL CHECK (jsonb_typeof(assumptions) = 'array'),
    action text,
    sku text,
    insight_id bigint,
    customer_id bigint,
    integration_id bigint,
    webhook_id bigint,
    -- The day of the last run that found it, as that run counts days.
    found_on date NOT NULL,
    detected_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    -- The order of a list, so that it is a range of the index: the most severe first, then what is expected to cost most.
    severity_rank smallint NOT NULL GENERATED ALWAYS AS (
        CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END) STORED,
    expected_rank numeric NOT NULL GENERATED ALWAYS AS (coalesce(-exposure_expected, 1)) STORED,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, kind, subject)
);
CREATE INDEX risks_severity ON risks (account_id, severity_rank, expected_rank, id) INCLUDE (lacks_costs);
