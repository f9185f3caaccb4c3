-- Made for a caller who waits for its one attempt: no replay sends it again.
ALTER TABLE deliveries ADD COLUMN is_test boolean NOT NULL DEFAULT false;
