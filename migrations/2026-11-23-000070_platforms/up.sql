-- The systems that shops run on and that rows come from: a new one is a row here and a value of `domain::accounts::Platform`,
-- no change of any table. It is the same for every account.
CREATE TABLE platforms (
    name text PRIMARY KEY
);
INSERT INTO platforms VALUES ('shopify'), ('tiendanube'), ('mercadolibre');

-- Where the tables are distributed already, it has to be on every node before they can refer to it.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        IF EXISTS (SELECT FROM citus_tables WHERE table_name = 'customers'::regclass) THEN
            SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
            PERFORM create_reference_table('platforms');
        END IF;
    END IF;
END $$;

ALTER TABLE integrations DROP CONSTRAINT integrations_provider_check;
ALTER TABLE integrations ADD CONSTRAINT integrations_provider_fkey FOREIGN KEY (provider) REFERENCES platforms (name);
ALTER TABLE customers DROP CONSTRAINT customers_source_check;
ALTER TABLE customers ADD CONSTRAINT customers_source_fkey FOREIGN KEY (source) REFERENCES platforms (name);
ALTER TABLE orders DROP CONSTRAINT orders_source_check;
ALTER TABLE orders ADD CONSTRAINT orders_source_fkey FOREIGN KEY (source) REFERENCES platforms (name);
ALTER TABLE refunds DROP CONSTRAINT refunds_source_check;
ALTER TABLE refunds ADD CONSTRAINT refunds_source_fkey FOREIGN KEY (source) REFERENCES platforms (name);
