ALTER TABLE sync_streams
    DROP CONSTRAINT sync_streams_progress_check,
    DROP COLUMN begun_at,
    DROP COLUMN reached_at,
    DROP COLUMN reached_number;
