DELETE FROM oauth_states WHERE channel IS NOT NULL;
ALTER TABLE oauth_states DROP COLUMN channel;
ALTER TABLE social_accounts DROP COLUMN scopes;
ALTER TABLE social_accounts DROP COLUMN missing_scopes;
ALTER TABLE social_accounts DROP COLUMN page_id;
ALTER TABLE social_accounts DROP COLUMN subscribed_at;
ALTER TABLE social_accounts DROP COLUMN subscribe_due_at;
ALTER TABLE social_accounts DROP COLUMN end_reason;
