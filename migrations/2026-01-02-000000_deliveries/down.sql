DROP TABLE webhook_replays, delivery_attempts, deliveries, events;
ALTER TABLE webhook_subscriptions
    DROP COLUMN previous_sealed_secret,
    DROP COLUMN previous_expires_at,
    DROP COLUMN failing_since,
    DROP COLUMN failing_deliveries;
DROP FUNCTION uuid_v7(timestamptz);
