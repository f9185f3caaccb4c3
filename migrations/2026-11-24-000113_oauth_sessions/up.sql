-- The session of the dashboard that an authorization was begun in, which alone completes it; null for one begun by a key.
ALTER TABLE oauth_states ADD COLUMN session_id bigint;
