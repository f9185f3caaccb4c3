ALTER TABLE integrations DROP CONSTRAINT integrations_provider_fkey;
ALTER TABLE integrations ADD CONSTRAINT integrations_provider_check
    CHECK (provider IN ('shopify', 'tiendanube', 'mercadolibre'));
ALTER TABLE customers DROP CONSTRAINT customers_source_fkey;
ALTER TABLE customers ADD CONSTRAINT customers_source_check CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre'));
ALTER TABLE orders DROP CONSTRAINT orders_source_fkey;
ALTER TABLE orders ADD CONSTRAINT orders_source_check CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre'));
ALTER TABLE refunds DROP CONSTRAINT refunds_source_fkey;
ALTER TABLE refunds ADD CONSTRAINT refunds_source_check CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre'));
DROP TABLE platforms;
