ALTER TABLE uploads DROP COLUMN is_unreadable;
ALTER TABLE uploads DROP COLUMN queued_at;
