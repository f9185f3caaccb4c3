-- Payments, and recharging by itself.

ALTER TABLE credit_balances
    -- Credits a calendar month; null: the service's own.
    ADD COLUMN auto_topup_monthly_cap bigint CHECK (auto_topup_monthly_cap > 0),
    ADD COLUMN auto_topup_failures bigint NOT NULL DEFAULT 0,
    ADD COLUMN auto_topup_last_failure text,
    ADD COLUMN auto_topup_disabled_reason text;

-- What the gateway said about a payment when it was last believed.
CREATE TABLE payments (
    account_id bigint NOT NULL REFERENCES accounts (id),
    gateway text NOT NULL,
    payment_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'refunded', 'charged_back')),
    item text NOT NULL,
    credits bigint NOT NULL CHECK (credits > 0),
    amount numeric(26, 6) NOT NULL CHECK (amount > 0),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- The plan that was paid, if one was.
    plan text CHECK (plan IN ('starter', 'pro', 'scale')),
    -- The automatic charge that was paid, if one was.
    charge_id bigint,
    -- The rows of the ledger that added the credits and took them away again.
    transaction_id bigint,
    reversal_id bigint,
    -- Credits that were spent before they could be taken away.
    shortfall bigint NOT NULL DEFAULT 0 CHECK (shortfall >= 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, gateway, payment_id),
    FOREIGN KEY (account_id, transaction_id) REFERENCES credit_transactions (account_id, id),
    FOREIGN KEY (account_id, reversal_id) REFERENCES credit_transactions (account_id, id)
);

-- Whose card an automatic top-up charges: whoever paid last by hand.
CREATE TABLE payment_customers (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    gateway text NOT NULL,
    customer_id text NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Automatic charges. Written in the transaction of the debit that causes them, so that none is forgotten.
CREATE TABLE auto_topups (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed', 'canceled')),
    credits bigint NOT NULL CHECK (credits > 0),
    -- What the gateway is asked for, and whom it is to charge; fixed before it is first asked.
    customer_id text,
    item text,
    amount numeric(26, 6) CHECK (amount > 0),
    currency text CHECK (currency ~ '^[A-Z]{3}$'),
    due_at timestamptz NOT NULL,
    leased_until timestamptz,
    -- Rises with every lease and guards every write of its holder.
    claim bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0,
    payment_id text,
    -- Why it failed or was canceled.
    reason text,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id),
    CHECK (attempts = 0 OR num_nulls(customer_id, item, amount, currency) = 0)
);
-- One charge in flight per account.
CREATE UNIQUE INDEX auto_topups_pending ON auto_topups (account_id) WHERE state = 'pending';
CREATE INDEX auto_topups_finished ON auto_topups (account_id, finished_at) WHERE finished_at IS NOT NULL;
-- For finding what is due in any account.
CREATE INDEX auto_topups_due ON auto_topups (due_at) WHERE state = 'pending';
