-- The times that alert rules fired, each with the event that says so.
CREATE TABLE alert_firings (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    rule_id bigint NOT NULL,
    fired_at timestamptz NOT NULL,
    -- What was seen, and what the rule named then.
    observed numeric NOT NULL,
    threshold numeric NOT NULL,
    event_id bigint,
    PRIMARY KEY (account_id, id)
);
ALTER TABLE alert_firings ADD CONSTRAINT alert_firings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
CREATE INDEX alert_firings_rule ON alert_firings (account_id, rule_id, id);
