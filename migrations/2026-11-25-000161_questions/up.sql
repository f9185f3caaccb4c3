-- Questions on Mercado Libre: the profile that comes with a connected shop uses its tokens, and is polled while the shop is
-- connected.
ALTER TABLE social_accounts ADD COLUMN integration_id bigint;
INSERT INTO social_accounts (account_id, channel, external_id, integration_id, connected_at, poll_due_at)
SELECT account_id, 'mercadolibre', shop_id, id, connected_at, now() FROM integrations
WHERE provider = 'mercadolibre' AND revoked_at IS NULL AND shop_id IS NOT NULL
ON CONFLICT (account_id, channel, external_id) DO UPDATE
    SET integration_id = excluded.integration_id, ended_at = NULL, poll_due_at = excluded.poll_due_at;
