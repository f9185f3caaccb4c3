-- Argon2id, as a PHC string; none until one is chosen.
ALTER TABLE people ADD COLUMN password text;

-- Devices that a person logged in on, by what the browser keeps.
CREATE TABLE devices (
    hash bytea PRIMARY KEY,
    person_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT devices_hash CHECK (length(hash) = 32)
);
ALTER TABLE devices ADD CONSTRAINT devices_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);
CREATE INDEX devices_person ON devices (person_id, created_at);

-- Tries in a row: wrong passwords and codes, and mails asked for. `key` is a hash of what is counted.
CREATE TABLE throttles (
    key bytea PRIMARY KEY,
    tries integer NOT NULL,
    last_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT throttles_key CHECK (length(key) = 32)
);
CREATE INDEX throttles_expiry ON throttles (expires_at);

-- Who did what. Rows are added only.
CREATE TABLE audit_entries (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    actor_kind text NOT NULL,
    -- With the name as it was then; it outlives the person.
    person_id bigint,
    actor_name text,
    action text NOT NULL,
    target text,
    address text,
    before jsonb,
    after jsonb,
    PRIMARY KEY (account_id, id)
);
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_actor CHECK (actor_kind IN ('person', 'operator', 'nobody'));
