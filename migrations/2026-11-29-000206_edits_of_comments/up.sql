-- Since when a comment has its text, where the network told that it was edited: what is told later of an earlier edit is not taken.
ALTER TABLE conversation_messages ADD COLUMN edited_at timestamptz;
