-- What was read stays; the connections cannot.
DELETE FROM sync_runs WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'google_ads');
DELETE FROM sync_streams WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'google_ads');
DELETE FROM integration_syncs WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'google_ads');
DELETE FROM integration_tokens WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'google_ads');
DELETE FROM shop_owners WHERE provider = 'google_ads';
DELETE FROM oauth_states WHERE provider = 'google_ads';
DELETE FROM integrations WHERE provider = 'google_ads';
DELETE FROM platforms WHERE name = 'google_ads';
