-- What deliveries may cost: held deliveries and replays move in steps that workers share, and answers have a budget.

ALTER TABLE webhook_subscriptions
    -- Set while deliveries that are held have to be moved, made due or canceled: when the last step was made.
    ADD COLUMN held_moved_at timestamptz,
    -- Bytes of answers on this day (UTC). Beyond a budget they are counted and no longer kept.
    ADD COLUMN answer_day date,
    ADD COLUMN answer_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX webhook_subscriptions_moving ON webhook_subscriptions (account_id, id) WHERE held_moved_at IS NOT NULL;

-- When the last step was made; null before the first.
ALTER TABLE webhook_replays ADD COLUMN advanced_at timestamptz;

-- Bytes of the answer that were read, where not all of them were kept.
ALTER TABLE delivery_attempts ADD COLUMN answer_bytes bigint;
