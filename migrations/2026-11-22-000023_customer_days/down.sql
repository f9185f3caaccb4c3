CREATE TABLE customer_firsts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    customer_id bigint NOT NULL,
    first_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, customer_id)
);
CREATE INDEX customer_firsts_at ON customer_firsts (account_id, first_at);
INSERT INTO customer_firsts SELECT account_id, customer_id, first_at FROM customer_totals;
DROP TABLE customer_totals, customer_days;
