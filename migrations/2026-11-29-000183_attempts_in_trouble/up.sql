-- Attempts in a row that show the receiver in trouble, which open the circuit breaker; another answer, such as 404, ends them.
ALTER TABLE webhook_subscriptions ADD COLUMN trouble_count bigint NOT NULL DEFAULT 0;

-- As before, but who resumes a subscription cannot miss what is held for it: a resume locks the subscription FOR UPDATE, so
-- it waits for transactions that hold something, or they wait for it and then see it active. What is due to one that is
-- switched off only after that lock is pending; a worker puts it aside.
CREATE OR REPLACE FUNCTION emit_events(account bigint, at timestamptz, kinds text[], bodies bytea[], catalogue text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    event bigint;
    event_kind text;
    written bigint[] := '{}';
    written_kinds text[] := '{}';
    targets bigint[];
    target_events bigint[];
    target_states text[];
    switched_off bigint[];
    due text;
BEGIN
    FOR event, event_kind IN
        INSERT INTO events (account_id, kind, body, created_at)
        SELECT account, e.kind, e.body, at FROM unnest(kinds, bodies) WITH ORDINALITY AS e (kind, body, position)
        ORDER BY e.position
        RETURNING id, kind
    LOOP
        written := written || event;
        written_kinds := written_kinds || event_kind;
    END LOOP;
    SELECT array_agg(locked.id) INTO switched_off FROM (
        SELECT s.id FROM webhook_subscriptions s
        WHERE s.account_id = account AND s.revoked_at IS NULL AND NOT s.active
            AND (s.events && kinds OR '*' = ANY (s.events) AND kinds && catalogue)
        ORDER BY s.id FOR KEY SHARE
    ) AS locked;
    SELECT array_agg(s.id), array_agg(e.id),
        array_agg(CASE WHEN NOT s.active AND s.id = ANY (switched_off) THEN 'held' ELSE 'pending' END),
        string_agg(DISTINCT s.id::text, ',') FILTER (WHERE s.active)
    INTO targets, target_events, target_states, due
    FROM webhook_subscriptions s JOIN unnest(written, written_kinds) AS e (id, kind)
        ON e.kind = ANY (s.events) OR ('*' = ANY (s.events) AND e.kind = ANY (catalogue))
    WHERE s.account_id = account AND s.revoked_at IS NULL;
    IF targets IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
    SELECT account, d.subscription, d.event, uuid_v7(at), d.state, at, at
    FROM unnest(targets, target_events, target_states) AS d (subscription, event, state);
    IF due IS NOT NULL AND pg_try_advisory_xact_lock(7203441930) THEN
        PERFORM pg_notify('deliveries', account || ':' || due);
    END IF;
END
$$;

-- As before, but the delivery counts as failed until its attempt is recorded. Workers lease what is pending, so none tries it
-- again should the process that makes the attempt end before that.
CREATE OR REPLACE FUNCTION emit_test(
    account bigint, subscription bigint, kind text, body bytea, at timestamptz, until timestamptz,
    OUT of_account bigint, OUT of_subscription bigint, OUT event bigint, OUT claim bigint, OUT delivery uuid,
    OUT attempts integer, OUT earlier_attempts integer, OUT url text, OUT secret bytea, OUT previous_secret bytea,
    OUT sent bytea)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    SELECT s.url, s.sealed_secret, CASE WHEN s.previous_expires_at > at THEN s.previous_sealed_secret END
    INTO url, secret, previous_secret
    FROM webhook_subscriptions s WHERE s.account_id = account AND s.id = subscription AND s.revoked_at IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO events (account_id, kind, body, created_at) VALUES (account, kind, body, at) RETURNING id INTO event;
    delivery := uuid_v7(at);
    INSERT INTO deliveries (
        account_id, subscription_id, event_id, id, state, due_at, leased_until, claim, created_at, finished_at, is_test)
    VALUES (account, subscription, event, delivery, 'failed', until, until, 1, at, at, true);
    of_account := account;
    of_subscription := subscription;
    claim := 1;
    attempts := 0;
    earlier_attempts := 0;
    sent := body;
    RETURN NEXT;
END
$$;
