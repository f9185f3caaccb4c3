-- When a person last looked at an account, and when the visit before this one ended; null in the first.
CREATE TABLE visits (
    account_id bigint NOT NULL,
    person_id bigint NOT NULL,
    seen_at timestamptz NOT NULL,
    before_at timestamptz,
    PRIMARY KEY (account_id, person_id)
);
ALTER TABLE visits ADD CONSTRAINT visits_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
