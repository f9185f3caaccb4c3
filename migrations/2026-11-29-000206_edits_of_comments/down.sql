ALTER TABLE conversation_messages DROP COLUMN edited_at;
