DELETE FROM sync_streams WHERE stream = 'ads';
DELETE FROM sync_runs WHERE stream = 'ads';
ALTER TABLE sync_streams
    DROP CONSTRAINT sync_streams_stream_check,
    ADD CONSTRAINT sync_streams_stream_check CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread'));
ALTER TABLE sync_runs
    DROP CONSTRAINT sync_runs_stream_check,
    ADD CONSTRAINT sync_runs_stream_check CHECK (stream IN ('changes', 'back_fill', 'catalogue', 'reread'));
