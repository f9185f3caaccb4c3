-- Who logs in to the dashboard. People belong to no account, so on a cluster these tables are on the coordinator only.
CREATE TABLE people (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Trimmed and in lower case.
    email text NOT NULL,
    name text NOT NULL,
    language text,
    theme text NOT NULL,
    created_at timestamptz NOT NULL,
    disabled_at timestamptz,
    CONSTRAINT people_language CHECK (language IN ('en', 'es', 'pt-BR')),
    CONSTRAINT people_theme CHECK (theme IN ('system', 'light', 'dark'))
);
ALTER TABLE people ADD CONSTRAINT people_email_key UNIQUE (email);

CREATE TABLE memberships (
    user_id text NOT NULL,
    person_id bigint NOT NULL,
    role text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, person_id),
    CONSTRAINT memberships_role CHECK (role IN ('owner', 'editor', 'viewer'))
);
ALTER TABLE memberships ADD CONSTRAINT memberships_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);
CREATE INDEX memberships_person ON memberships (person_id);

-- `hash` is that of the token in the cookie. The account is the user's of that mode.
CREATE TABLE sessions (
    hash bytea PRIMARY KEY,
    id bigint GENERATED ALWAYS AS IDENTITY,
    person_id bigint NOT NULL,
    user_id text NOT NULL,
    mode text NOT NULL,
    user_agent text NOT NULL,
    address text NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    confirmed_at timestamptz NOT NULL,
    CONSTRAINT sessions_hash CHECK (length(hash) = 32),
    CONSTRAINT sessions_mode CHECK (mode IN ('live', 'test'))
);
ALTER TABLE sessions ADD CONSTRAINT sessions_id_key UNIQUE (id);
ALTER TABLE sessions ADD CONSTRAINT sessions_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);
CREATE INDEX sessions_person ON sessions (person_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Links that open once: the row goes when it is used.
CREATE TABLE links (
    hash bytea PRIMARY KEY,
    purpose text NOT NULL,
    person_id bigint,
    user_id text,
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT links_hash CHECK (length(hash) = 32),
    CONSTRAINT links_purpose CHECK (purpose IN ('enter', 'sign_up', 'reset_password', 'invitation', 'new_address'))
);
ALTER TABLE links ADD CONSTRAINT links_person_fkey FOREIGN KEY (person_id) REFERENCES people (id);
CREATE INDEX links_expiry ON links (expires_at);
CREATE INDEX links_person ON links (person_id);
