ALTER TABLE delivery_attempts DROP COLUMN answer_bytes;
ALTER TABLE webhook_replays DROP COLUMN advanced_at;
DROP INDEX webhook_subscriptions_moving;
ALTER TABLE webhook_subscriptions DROP COLUMN held_moved_at, DROP COLUMN answer_day, DROP COLUMN answer_bytes;
