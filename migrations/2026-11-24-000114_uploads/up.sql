-- Files that people bring in, from the first byte to what became of them. Whoever imports one holds its lease.
CREATE TABLE uploads (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('orders', 'products', 'stock', 'ad_spend', 'expenses')),
    name text NOT NULL,
    bytes bigint NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN ('arriving', 'ready', 'queued', 'running', 'done', 'failed')),
    -- How it is to be read.
    reading jsonb NOT NULL DEFAULT '{}',
    read_bytes bigint NOT NULL DEFAULT 0,
    -- What became of its lines; null until it is done.
    outcome jsonb,
    error text,
    lease_number bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id),
    CHECK ((state = 'running') = (lease_until IS NOT NULL)),
    CHECK ((state IN ('done', 'failed')) = (finished_at IS NOT NULL))
);
CREATE INDEX uploads_due ON uploads (created_at) INCLUDE (account_id, id) WHERE state IN ('queued', 'running');
CREATE INDEX uploads_age ON uploads (created_at);

-- Their bytes, and those of the lines that were refused. No foreign key: it would lock the upload's row for every piece.
CREATE TABLE upload_pieces (
    account_id bigint NOT NULL,
    upload_id bigint NOT NULL,
    part text NOT NULL CHECK (part IN ('file', 'rejects')),
    number bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (account_id, upload_id, part, number)
);

-- Accounts whose jobs are to run at once.
CREATE TABLE job_requests (
    account_id bigint NOT NULL REFERENCES accounts (id),
    requested_at timestamptz NOT NULL,
    -- Not to be taken before: a job was in other hands.
    due_at timestamptz NOT NULL,
    -- Asked for again since the lease was taken.
    is_again boolean NOT NULL DEFAULT false,
    lease_number bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    PRIMARY KEY (account_id)
);
CREATE INDEX job_requests_due ON job_requests (due_at) INCLUDE (account_id);
