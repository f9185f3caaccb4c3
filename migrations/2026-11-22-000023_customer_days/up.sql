-- What a customer did on a day, and in all: a night sums up the customers of the days that changed, not everybody's past.
-- Derived from orders and refunds alone, so without foreign keys, which would look at the account once a row.
CREATE TABLE customer_days (
    account_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    day date NOT NULL,
    orders bigint NOT NULL,
    gross numeric(26, 6) NOT NULL,
    -- Given back on this day, for whichever order.
    refunds numeric(26, 6) NOT NULL,
    -- None on a day with refunds only.
    first_at timestamptz,
    last_at timestamptz,
    PRIMARY KEY (account_id, customer_id, day)
);
CREATE INDEX customer_days_day ON customer_days (account_id, day);

-- Customers with an order. Filled by the next roll-up, which makes all days anew. Another table rather than more columns:
-- a worker of the release before must fail and be run again, not sum days up without their customers.
CREATE TABLE customer_totals (
    account_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    -- Days with an order.
    days bigint NOT NULL,
    orders bigint NOT NULL,
    gross numeric(26, 6) NOT NULL,
    refunds numeric(26, 6) NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, customer_id)
);
CREATE INDEX customer_totals_first ON customer_totals (account_id, first_at);
DROP TABLE customer_firsts;
