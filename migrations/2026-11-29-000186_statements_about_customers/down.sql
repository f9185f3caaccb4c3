ALTER TABLE customers DROP COLUMN email_at, DROP COLUMN name_at, DROP COLUMN city_at, DROP COLUMN country_at;
