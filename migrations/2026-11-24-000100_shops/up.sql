-- What a connection to a shop says of itself. Its tokens, cursors and runs have tables of their own.
ALTER TABLE integrations
    -- The platform's number of the shop, or its host name for Shopify; null where there is no access to the shop.
    ADD COLUMN shop_id text,
    ADD COLUMN missing_scopes text[] NOT NULL DEFAULT '{}',
    ADD COLUMN history_from timestamptz,
    ADD COLUMN buyer_data text NOT NULL DEFAULT 'full',
    ADD COLUMN suspended_at timestamptz,
    ADD COLUMN revoke_reason text,
    -- What it alone says for the account.
    ADD COLUMN owner_of text[] NOT NULL DEFAULT '{}',
    -- Since when it counts as broken; null once it is mended.
    ADD COLUMN broken_at timestamptz;
ALTER TABLE integrations ADD CONSTRAINT integrations_buyer_data CHECK (buyer_data IN ('full', 'withheld'));
ALTER TABLE integrations ADD CONSTRAINT integrations_revoke_reason
    CHECK (revoke_reason IN ('manual', 'uninstalled', 'token_expired'));
ALTER TABLE integrations ADD CONSTRAINT integrations_owner_of CHECK (owner_of <@ ARRAY['stock', 'cost']);

-- Which accounts are or were connected to a shop: a hook names the shop only, and a shop is connected to one account at a
-- time. On a cluster the table stays on the coordinator, since a key without the account cannot be distributed.
CREATE TABLE shop_owners (
    provider text NOT NULL,
    shop_id text NOT NULL,
    owner_id bigint NOT NULL,
    integration_id bigint NOT NULL,
    is_connected boolean NOT NULL,
    PRIMARY KEY (provider, shop_id, owner_id)
);
CREATE UNIQUE INDEX shop_owners_connected ON shop_owners (provider, shop_id) WHERE is_connected;

-- Authorizations that were begun. The state itself is not kept; `id` is the first eight bytes of its digest, which the sealed
-- verifier is bound to.
CREATE TABLE oauth_states (
    account_id bigint NOT NULL REFERENCES accounts (id),
    state_hash bytea NOT NULL CHECK (length(state_hash) = 32),
    id bigint NOT NULL,
    user_id text NOT NULL,
    provider text NOT NULL REFERENCES platforms (name),
    shop text,
    redirect_uri text NOT NULL,
    sealed_verifier bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, state_hash)
);
CREATE INDEX oauth_states_age ON oauth_states (expires_at);

-- Tokens, sealed. Forgotten ones are null; the row stays, so that its numbers go on rising.
CREATE TABLE integration_tokens (
    account_id bigint NOT NULL REFERENCES accounts (id),
    integration_id bigint NOT NULL,
    generation bigint NOT NULL,
    sealed_access bytea,
    access_expires_at timestamptz,
    sealed_refresh bytea,
    refresh_expires_at timestamptz,
    -- Who may renew them.
    lease_number bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    PRIMARY KEY (account_id, integration_id)
);

-- When a connection is to be read, and who reads it. Never due once it has ended.
CREATE TABLE integration_syncs (
    account_id bigint NOT NULL REFERENCES accounts (id),
    integration_id bigint NOT NULL,
    due_at timestamptz,
    -- Something changed in the shop since the lease was taken.
    is_hinted boolean NOT NULL DEFAULT false,
    lease_number bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    PRIMARY KEY (account_id, integration_id)
);
CREATE INDEX integration_syncs_due ON integration_syncs (due_at) INCLUDE (account_id, integration_id, lease_until);

-- How far each stream of a connection has been read, and its failures since.
CREATE TABLE sync_streams (
    account_id bigint NOT NULL REFERENCES accounts (id),
    integration_id bigint NOT NULL,
    stream text NOT NULL CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread')),
    cursor_at timestamptz,
    failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failing_since timestamptz,
    failed_at timestamptz,
    error_code text CHECK (error_code IN ('token_refused', 'permission_lost', 'blocked', 'not_delivering', 'unreachable')),
    error_message text,
    PRIMARY KEY (account_id, integration_id, stream),
    CHECK ((failures = 0) = (failing_since IS NULL)),
    CHECK (num_nulls(failing_since, failed_at, error_code, error_message) IN (0, 4))
);

-- The log: one row a window, or a pass of a stream without windows.
CREATE TABLE sync_runs (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    integration_id bigint NOT NULL,
    stream text NOT NULL CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread')),
    window_from timestamptz,
    window_until timestamptz,
    state text NOT NULL CHECK (state IN ('done', 'failed')),
    read bigint NOT NULL,
    stored bigint NOT NULL,
    refused bigint NOT NULL,
    voided bigint NOT NULL,
    calls bigint NOT NULL,
    waited_ms bigint NOT NULL,
    -- [{kind, external_id, reason}], the newest.
    refusals jsonb NOT NULL CHECK (jsonb_typeof(refusals) = 'array'),
    error_code text,
    error_message text,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((window_from IS NULL) = (window_until IS NULL)),
    CHECK ((state = 'failed') = (error_code IS NOT NULL) AND (error_code IS NULL) = (error_message IS NULL))
);
CREATE INDEX sync_runs_integration ON sync_runs (account_id, integration_id, id);
CREATE INDEX sync_runs_age ON sync_runs (finished_at);

-- Hooks of platforms, as they were received. No foreign key: it would lock the account's row for every hook.
CREATE TABLE provider_inbox (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    integration_id bigint NOT NULL,
    dedup_key text NOT NULL,
    topic_name text NOT NULL,
    topic jsonb NOT NULL,
    received_at timestamptz NOT NULL,
    -- Not to be taken before: it was put back.
    due_at timestamptz NOT NULL,
    -- In the hands of a worker until then.
    lease_until timestamptz,
    attempts bigint NOT NULL DEFAULT 0,
    processed_at timestamptz,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, integration_id, dedup_key)
);
CREATE INDEX provider_inbox_open ON provider_inbox (account_id, integration_id, id) WHERE processed_at IS NULL;
CREATE INDEX provider_inbox_due ON provider_inbox (due_at) INCLUDE (account_id, integration_id) WHERE processed_at IS NULL;
CREATE INDEX provider_inbox_age ON provider_inbox (received_at);

-- Privacy requests, and what was done about them.
CREATE TABLE privacy_requests (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    integration_id bigint NOT NULL,
    -- The hook that brought it.
    inbox_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('data', 'redact_customer', 'redact_shop')),
    -- Forgotten with the customer.
    customer text,
    orders text[] NOT NULL DEFAULT '{}',
    received_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    done_at timestamptz,
    redacted_customers bigint NOT NULL DEFAULT 0,
    redacted_orders bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, inbox_id)
);
CREATE INDEX privacy_requests_due ON privacy_requests (due_at) WHERE done_at IS NULL;

-- Customers who asked to be forgotten, by the SHA-256 digest of their identifier: an import does not bring them back.
CREATE TABLE forgotten_customers (
    account_id bigint NOT NULL REFERENCES accounts (id),
    source text NOT NULL REFERENCES platforms (name),
    external_id_hash bytea NOT NULL,
    PRIMARY KEY (account_id, source, external_id_hash)
);

-- The refunds of an order, where they are known by its identifier and their day.
CREATE INDEX refunds_of_order ON refunds (account_id, source, (left(external_id, -11)))
    WHERE external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$';
