ALTER TABLE integration_syncs
    DROP COLUMN paused_until,
    DROP COLUMN told_due_at;
