DROP TABLE challenges;
DROP TABLE recovery_codes;
DROP TABLE second_factors;
ALTER TABLE users DROP COLUMN requires_second_factor;
