DROP TABLE audit_entries;
DROP TABLE throttles;
DROP TABLE devices;
ALTER TABLE people DROP COLUMN password;
