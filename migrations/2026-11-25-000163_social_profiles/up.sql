-- Profiles that people connect by granting access.

-- The channel of the profile that an authorization is for; null for a shop or an ad account.
ALTER TABLE oauth_states ADD COLUMN channel text;

-- What was granted with the token, and what is needed and was not; null where the token was given by hand.
ALTER TABLE social_accounts ADD COLUMN scopes text[];
ALTER TABLE social_accounts ADD COLUMN missing_scopes text[];
-- The page that the profile belongs to, by which its hooks are subscribed to.
ALTER TABLE social_accounts ADD COLUMN page_id text;
-- When the network last agreed to send hooks, and when that is asked for again; null where it is not.
ALTER TABLE social_accounts ADD COLUMN subscribed_at timestamptz;
ALTER TABLE social_accounts ADD COLUMN subscribe_due_at timestamptz;
-- Why it ended; null for one whose token was refused before there were other reasons.
ALTER TABLE social_accounts ADD COLUMN end_reason text;
