-- Country and platform together, as `country/platform`, and the visitors of a country.
ALTER TABLE daily_breakdowns
    DROP CONSTRAINT daily_breakdowns_dimension_check,
    ADD CONSTRAINT daily_breakdowns_dimension_check
        CHECK (dimension IN ('platform', 'country', 'campaign', 'country_platform')),
    ADD COLUMN visitors bigint NOT NULL DEFAULT 0;
