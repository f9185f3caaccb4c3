-- Since when it waits to be imported. Once a file of the account is taken, its others wait from then on: accounts take turns.
ALTER TABLE uploads ADD COLUMN queued_at timestamptz;
-- Found when it has arrived: a list of files opens none of them.
ALTER TABLE uploads ADD COLUMN is_unreadable boolean NOT NULL DEFAULT false;
