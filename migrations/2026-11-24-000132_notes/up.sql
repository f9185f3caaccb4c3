-- What people of the shop wrote about a day.
CREATE TABLE notes (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    text text NOT NULL,
    -- With the name as it was then; it outlives the person.
    person_id bigint NOT NULL,
    person_name text NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);
ALTER TABLE notes ADD CONSTRAINT notes_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
CREATE INDEX notes_day ON notes (account_id, day, id);
