-- Events and their deliveries. Foreign keys to subscriptions are left out on purpose: each delivery would lock its
-- subscription's row, which every attempt updates; subscriptions are never deleted.

-- A UUIDv7 (RFC 9562) of this instant: random, but in the order of time.
CREATE FUNCTION uuid_v7(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
            52, 1), 53, 1),
        'hex')::uuid
$$;

ALTER TABLE webhook_subscriptions
    -- The secret before the last rotation, and until when deliveries are signed with it as well.
    ADD COLUMN previous_sealed_secret bytea,
    ADD COLUMN previous_expires_at timestamptz,
    -- The first failed attempt after the last success, and the deliveries that have failed since.
    ADD COLUMN failing_since timestamptz,
    ADD COLUMN failing_deliveries bigint NOT NULL DEFAULT 0;

-- What happened. Written in the transaction of the change that caused it.
CREATE TABLE events (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    -- The JSON as it is sent, byte for byte.
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- One event to one subscription. Pending: due at `due_at`, or in the hands of a worker until then. Held: the
-- subscription is switched off. Canceled: it was revoked. Failed: the last attempt was made in vain.
CREATE TABLE deliveries (
    account_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    event_id bigint NOT NULL,
    -- What receivers tell duplicates by; the same in every attempt.
    id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'held', 'delivered', 'failed', 'canceled')),
    due_at timestamptz NOT NULL,
    -- Set while a worker holds it.
    leased_until timestamptz,
    -- Rises with every lease and guards every write of its holder.
    claim bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    -- Attempts made before it was last sent anew: the schedule starts there.
    earlier_attempts integer NOT NULL DEFAULT 0,
    last_status integer,
    last_failure text,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, subscription_id, event_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX deliveries_id ON deliveries (account_id, id);
CREATE INDEX deliveries_queue ON deliveries (account_id, subscription_id, state, due_at)
    WHERE state IN ('pending', 'held');
-- For finding out which subscriptions have something due: one of the few indexes that account_id does not lead. On a
-- distributed database every shard answers for its own accounts.
CREATE INDEX deliveries_due ON deliveries (due_at) INCLUDE (account_id, subscription_id) WHERE state = 'pending';

-- Attempts to deliver: a stream, cut into months by their start; old months are dropped, never deleted row by row.
CREATE TABLE delivery_attempts (
    account_id bigint NOT NULL,
    delivery_id uuid NOT NULL,
    number integer NOT NULL,
    started_at timestamptz NOT NULL,
    -- One of the two: an HTTP status, or the reason why there is none.
    status integer,
    failure text,
    message text,
    -- Microseconds; null for phases that were not reached or not needed.
    dns_us bigint,
    connect_us bigint,
    tls_us bigint,
    first_byte_us bigint,
    total_us bigint NOT NULL,
    -- The beginning of the answer's body.
    answer bytea NOT NULL,
    location text,
    PRIMARY KEY (account_id, delivery_id, number, started_at)
) PARTITION BY RANGE (started_at);
-- What no month was made for in time is kept here rather than refused.
CREATE TABLE delivery_attempts_default PARTITION OF delivery_attempts DEFAULT;

-- Jobs that send deliveries of a time span again, in the order of their events.
CREATE TABLE webhook_replays (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    subscription_id bigint NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    states text[] NOT NULL CHECK (cardinality(states) > 0),
    state text NOT NULL CHECK (state IN ('running', 'done', 'canceled')),
    -- Deliveries that matched when it was asked for, and how many have been put into the queue so far.
    total bigint NOT NULL,
    queued bigint NOT NULL DEFAULT 0,
    -- The last event that was looked at.
    cursor bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_replays_subscription ON webhook_replays (account_id, subscription_id, id);
CREATE INDEX webhook_replays_running ON webhook_replays (account_id, id) WHERE state = 'running';
