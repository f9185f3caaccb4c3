ALTER TABLE orders DROP COLUMN integration_id;
