-- Whose payment it is, known before the account is: a payment belongs to one account, whatever the gateway says it was
-- ordered for. On a cluster the table stays on the coordinator, since a key without the account cannot be distributed.
CREATE TABLE payment_owners (
    gateway text NOT NULL,
    payment_id text NOT NULL,
    owner_id bigint NOT NULL,
    PRIMARY KEY (gateway, payment_id)
);
INSERT INTO payment_owners (gateway, payment_id, owner_id)
    SELECT gateway, payment_id, min(account_id) FROM payments GROUP BY gateway, payment_id;

-- What was ever for sale. Belongs to no account; on a cluster it stays on the coordinator.
CREATE TABLE price_offers (
    item text NOT NULL,
    currency text NOT NULL CONSTRAINT price_offers_currency CHECK (currency ~ '^[A-Z]{3}$'),
    amount numeric(26, 6) NOT NULL CONSTRAINT price_offers_amount CHECK (amount > 0),
    credits bigint NOT NULL CONSTRAINT price_offers_credits CHECK (credits > 0),
    plan text CONSTRAINT price_offers_plan CHECK (plan IN ('starter', 'pro', 'scale')),
    plan_interval text CONSTRAINT price_offers_interval CHECK (plan_interval IN ('month', 'year')),
    -- Null while it is for sale.
    withdrawn_at timestamptz,
    PRIMARY KEY (item, currency, amount, credits)
);
