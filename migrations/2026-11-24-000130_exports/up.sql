-- Files of all that an account has, made for its owners. Whoever writes one holds its lease.
CREATE TABLE exports (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL,
    -- Rows that are in the file so far, and bytes of it.
    row_count bigint NOT NULL DEFAULT 0,
    byte_count bigint NOT NULL DEFAULT 0,
    lease_number bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id)
);
ALTER TABLE exports ADD CONSTRAINT exports_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE exports ADD CONSTRAINT exports_state CHECK (state IN ('queued', 'running', 'done', 'failed'));
ALTER TABLE exports ADD CONSTRAINT exports_lease CHECK ((state = 'running') = (lease_until IS NOT NULL));
ALTER TABLE exports ADD CONSTRAINT exports_end CHECK ((state IN ('done', 'failed')) = (finished_at IS NOT NULL));
CREATE INDEX exports_due ON exports (created_at) INCLUDE (account_id, id) WHERE state IN ('queued', 'running');
CREATE INDEX exports_age ON exports (created_at);

-- Their bytes. No foreign key: it would lock the export's row for every piece.
CREATE TABLE export_pieces (
    account_id bigint NOT NULL,
    export_id bigint NOT NULL,
    number bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (account_id, export_id, number)
);
