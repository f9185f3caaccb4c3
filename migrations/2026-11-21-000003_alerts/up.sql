-- Rules that watch a metric of their account, and where each of them stands.
CREATE TABLE alert_rules (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    -- One of a fixed list, or `event:` and the name of a tracked event.
    metric text NOT NULL,
    comparator text NOT NULL CHECK (comparator IN ('gt', 'gte', 'lt', 'lte')),
    threshold numeric(26, 6) NOT NULL,
    window_hours bigint NOT NULL CHECK (window_hours BETWEEN 1 AND 2160),
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    cooldown_hours bigint NOT NULL CHECK (cooldown_hours BETWEEN 0 AND 720),
    active boolean NOT NULL DEFAULT true,
    -- Ready to fire; put back by a value on the other side of the threshold.
    armed boolean NOT NULL DEFAULT true,
    -- What was last seen; null when there was nothing to see.
    last_value numeric,
    last_evaluated_at timestamptz,
    last_fired_at timestamptz,
    -- When it is looked at next; pushed on by whoever takes it.
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);
-- For finding out what is due: one of the few indexes that account_id does not lead. On a distributed database every
-- shard answers for its own accounts.
CREATE INDEX alert_rules_due ON alert_rules (due_at) INCLUDE (account_id, id) WHERE active;
