-- Whether what was changed is of the live account or of the sandbox; null where it is of neither.
ALTER TABLE audit_entries ADD COLUMN mode text;
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_mode CHECK (mode IN ('live', 'test'));
