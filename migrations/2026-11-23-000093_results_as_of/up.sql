-- Results as of a past day are computed on a copy of the account, which is an account without keys: `copy_of` is the one that
-- it was copied from, `as_of` the day, and `published` whether its results are complete. A user has one account of each mode
-- beside its copies.
ALTER TABLE accounts
    ADD COLUMN copy_of bigint,
    ADD COLUMN as_of date,
    ADD COLUMN published boolean NOT NULL DEFAULT false;
ALTER TABLE accounts
    ADD CONSTRAINT accounts_copy_check CHECK ((copy_of IS NULL) = (as_of IS NULL));
CREATE UNIQUE INDEX accounts_user_id_mode ON accounts (user_id, mode) WHERE copy_of IS NULL;
ALTER TABLE accounts DROP CONSTRAINT accounts_user_id_mode_key;
CREATE INDEX accounts_copies ON accounts (copy_of, as_of) WHERE copy_of IS NOT NULL;

-- Copies rows of a table that a condition holds for, with all of their columns, from account $1 to account $2. In the
-- condition $3 is the day and $4 its end.
CREATE FUNCTION copy_rows(source bigint, target bigint, tab regclass, condition text, day date, until timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO columns FROM pg_attribute
    WHERE attrelid = tab AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attname <> 'account_id';
    EXECUTE format('INSERT INTO %s (account_id, %s) OVERRIDING SYSTEM VALUE SELECT $2, %s FROM %s WHERE account_id = $1 AND %s',
        tab, columns, columns, tab, condition) USING source, target, day, until;
END $$;
