-- Users whose accounts are to be erased. Until then that can be undone.
CREATE TABLE erasures (
    user_id text PRIMARY KEY,
    requested_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL
);
CREATE INDEX erasures_due ON erasures (due_at);

-- What moved the credits of accounts that are gone: amounts for the books, and nobody's name.
CREATE TABLE closed_ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    amount bigint NOT NULL,
    created_at timestamptz NOT NULL,
    closed_at timestamptz NOT NULL
);
