ALTER TABLE oauth_states DROP COLUMN session_id;
