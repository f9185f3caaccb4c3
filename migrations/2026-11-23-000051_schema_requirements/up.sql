-- Migrations that an earlier version of the program cannot work with, and the first version that can. A migration that takes
-- something away adds its own row.
CREATE TABLE schema_requirements (
    -- As in __diesel_schema_migrations.
    migration text PRIMARY KEY,
    min_version text NOT NULL,
    CONSTRAINT schema_requirements_min_version CHECK (min_version ~ '^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$')
);
