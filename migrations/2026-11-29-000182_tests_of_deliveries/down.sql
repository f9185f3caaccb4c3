ALTER TABLE deliveries DROP COLUMN is_test;
