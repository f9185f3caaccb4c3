-- Where ads run and comments come from stand in the table of platforms too: a new one is a row there, no change of a table.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
    END IF;
END $$;
INSERT INTO platforms VALUES ('meta'), ('google'), ('manual'), ('instagram'), ('facebook') ON CONFLICT DO NOTHING;
ALTER TABLE ad_accounts DROP CONSTRAINT ad_accounts_platform_check;
ALTER TABLE ad_accounts ADD CONSTRAINT ad_accounts_platform_fkey FOREIGN KEY (platform) REFERENCES platforms (name);
ALTER TABLE social_accounts DROP CONSTRAINT social_accounts_channel_check;
ALTER TABLE social_accounts ADD CONSTRAINT social_accounts_channel_fkey FOREIGN KEY (channel) REFERENCES platforms (name);
ALTER TABLE conversations DROP CONSTRAINT conversations_channel_check;
ALTER TABLE conversations ADD CONSTRAINT conversations_channel_fkey FOREIGN KEY (channel) REFERENCES platforms (name);
