ALTER TABLE users ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false;

CREATE TABLE second_factors (
    person_id bigint PRIMARY KEY,
    sealed_secret bytea NOT NULL,
    -- The last step (30 seconds since 1970) whose code was used.
    last_step bigint NOT NULL,
    created_at timestamptz NOT NULL,
    -- Null until a first code was shown.
    turned_on_at timestamptz,
    -- Of all recovery codes.
    codes_salt bytea
);
ALTER TABLE second_factors ADD CONSTRAINT second_factors_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);

-- Argon2id of each recovery code that was not used yet.
CREATE TABLE recovery_codes (
    person_id bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (person_id, hash)
);
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);

-- Who has shown the password and still has to show a code.
CREATE TABLE challenges (
    hash bytea PRIMARY KEY,
    person_id bigint NOT NULL,
    remember boolean NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,
    CONSTRAINT challenges_hash CHECK (length(hash) = 32)
);
ALTER TABLE challenges ADD CONSTRAINT challenges_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);
CREATE INDEX challenges_expiry ON challenges (expires_at);
CREATE INDEX challenges_person ON challenges (person_id);
