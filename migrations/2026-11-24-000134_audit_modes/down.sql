ALTER TABLE audit_entries DROP COLUMN mode;
