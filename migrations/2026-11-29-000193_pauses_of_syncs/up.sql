-- Until when no hook that anybody may have sent makes a connection due, and when one since the lease was taken makes it due again.
ALTER TABLE integration_syncs
    ADD COLUMN paused_until timestamptz,
    ADD COLUMN told_due_at timestamptz;
