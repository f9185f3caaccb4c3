-- Writing to the ledger: a key for every operation, refunds that name their debit, and the pause of AI access.

ALTER TABLE credit_transactions
    -- SHA-256 of what was asked under `operation_key`: tells a repetition from another operation.
    ADD COLUMN operation_hash bytea CHECK (length(operation_hash) = 32),
    -- The debit that a refund gives back.
    ADD COLUMN refunds_id bigint,
    ADD CONSTRAINT credit_transactions_refunds FOREIGN KEY (account_id, refunds_id)
        REFERENCES credit_transactions (account_id, id),
    ADD CONSTRAINT credit_transactions_sign CHECK (
        CASE kind WHEN 'consume' THEN amount < 0 WHEN 'adjustment' THEN true ELSE amount > 0 END);
-- A debit is refunded once.
CREATE UNIQUE INDEX credit_transactions_refunded ON credit_transactions (account_id, refunds_id)
    WHERE refunds_id IS NOT NULL;
-- Spans of time: `created_at` never falls while `id` rises, so a span of one is a span of the other.
CREATE INDEX credit_transactions_created ON credit_transactions (account_id, created_at, id);
CREATE INDEX credit_transactions_kind ON credit_transactions (account_id, kind, id);
CREATE INDEX credit_transactions_feature ON credit_transactions (account_id, feature, id) WHERE feature IS NOT NULL;

-- Every debit rewrites its account's row: room for that on the page, and no index on what changes.
ALTER TABLE credit_balances SET (fillfactor = 50);

-- Whether an account may use AI features. No row means that it may.
CREATE TABLE ai_access (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    -- Set while paused, together with who did it and why.
    paused_at timestamptz,
    reason text,
    paused_by text,
    by_kind text CHECK (by_kind IN ('system', 'admin')),
    updated_at timestamptz NOT NULL,
    CHECK (paused_at IS NULL OR (reason IS NOT NULL AND paused_by IS NOT NULL AND by_kind IS NOT NULL))
);
