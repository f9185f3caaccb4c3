DROP FUNCTION emit_test(bigint, bigint, text, bytea, timestamptz, timestamptz);
DROP FUNCTION emit_events(bigint, timestamptz, text[], bytea[], text[]);
