-- The keys that seal secrets at rest, each by a value that only it gives and that reveals nothing of it: a process that is
-- configured with another key of the same name, or without one that is needed, does not start. Of the whole installation,
-- not of an account; looked at when a process starts.
CREATE TABLE data_keys (
    id text PRIMARY KEY,
    -- Null for a key that was given up before it was ever recorded.
    check_value bytea,
    recorded_at timestamptz NOT NULL,
    -- Since when an operator has given it up: what it sealed stays sealed.
    lost_at timestamptz,
    CONSTRAINT data_keys_known_or_lost CHECK (check_value IS NOT NULL OR lost_at IS NOT NULL)
);
