-- When a charge was first sent; the gateway knows its key for a day from then. NULL on one that an earlier version sent,
-- which counts from when it was queued.
ALTER TABLE auto_topups ADD COLUMN sent_at timestamptz;
-- The payments that notifications have named so far, to be looked up instead of charged again.
UPDATE auto_topups t SET payment_id = p.payment_id FROM payments p
WHERE t.state = 'pending' AND t.attempts > 0 AND t.payment_id IS NULL AND p.account_id = t.account_id AND p.charge_id = t.id;
