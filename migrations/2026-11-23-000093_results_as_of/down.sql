DROP FUNCTION copy_rows(bigint, bigint, regclass, text, date, timestamptz);
DROP INDEX accounts_copies;
ALTER TABLE accounts ADD CONSTRAINT accounts_user_id_mode_key UNIQUE (user_id, mode);
DROP INDEX accounts_user_id_mode;
ALTER TABLE accounts DROP COLUMN copy_of, DROP COLUMN as_of, DROP COLUMN published;
