-- When each was said: by the newest order or refund that said anything of it. NULL where nothing was said, or before this was
-- kept.
ALTER TABLE customers
    ADD COLUMN email_at timestamptz,
    ADD COLUMN name_at timestamptz,
    ADD COLUMN city_at timestamptz,
    ADD COLUMN country_at timestamptz;
