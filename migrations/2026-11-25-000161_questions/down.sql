-- Conversations name their profile, so it stays.
UPDATE social_accounts SET ended_at = now(), poll_due_at = NULL WHERE integration_id IS NOT NULL;
ALTER TABLE social_accounts DROP COLUMN integration_id;
