-- How far the reading of known orders one by one has come that is not at its end: since when, and the last order that was read.
ALTER TABLE sync_streams
    ADD COLUMN begun_at timestamptz,
    ADD COLUMN reached_at timestamptz,
    ADD COLUMN reached_number bigint;
ALTER TABLE sync_streams
    ADD CONSTRAINT sync_streams_progress_check CHECK (num_nulls(begun_at, reached_at, reached_number) IN (0, 3));
