-- When a charge was first sent; the gateway knows its key for a day from then. NULL on one that an earlier version sent,
-- which counts from when it was queued.
ALTER TABLE auto_topups ADD COLUMN sent_at timestamptz;
