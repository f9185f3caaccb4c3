DELETE FROM daily_breakdowns WHERE dimension = 'country_platform';
ALTER TABLE daily_breakdowns
    DROP COLUMN visitors,
    DROP CONSTRAINT daily_breakdowns_dimension_check,
    ADD CONSTRAINT daily_breakdowns_dimension_check CHECK (dimension IN ('platform', 'country', 'campaign'));
