ALTER TABLE conversations DROP CONSTRAINT conversations_channel_fkey;
ALTER TABLE conversations ADD CONSTRAINT conversations_channel_check CHECK (channel IN ('instagram', 'facebook', 'mercadolibre'));
ALTER TABLE social_accounts DROP CONSTRAINT social_accounts_channel_fkey;
ALTER TABLE social_accounts ADD CONSTRAINT social_accounts_channel_check CHECK (channel IN ('instagram', 'facebook', 'mercadolibre'));
ALTER TABLE ad_accounts DROP CONSTRAINT ad_accounts_platform_fkey;
ALTER TABLE ad_accounts ADD CONSTRAINT ad_accounts_platform_check CHECK (platform IN ('meta', 'google', 'mercadolibre', 'manual'));
DELETE FROM platforms WHERE name IN ('google', 'manual', 'instagram', 'facebook');
