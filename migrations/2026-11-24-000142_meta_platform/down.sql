-- What was read stays; the connections cannot.
DELETE FROM sync_runs WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'meta');
DELETE FROM sync_streams WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'meta');
DELETE FROM integration_syncs WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'meta');
DELETE FROM integration_tokens WHERE (account_id, integration_id) IN (SELECT account_id, id FROM integrations WHERE provider = 'meta');
DELETE FROM shop_owners WHERE provider = 'meta';
DELETE FROM oauth_states WHERE provider = 'meta';
DELETE FROM integrations WHERE provider = 'meta';
DELETE FROM platforms WHERE name = 'meta';
