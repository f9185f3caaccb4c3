-- What was spent on a platform's ads is read of a shop as well.
ALTER TABLE sync_streams
    DROP CONSTRAINT sync_streams_stream_check,
    ADD CONSTRAINT sync_streams_stream_check CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread', 'ads'));
ALTER TABLE sync_runs
    DROP CONSTRAINT sync_runs_stream_check,
    ADD CONSTRAINT sync_runs_stream_check CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread', 'ads'));
