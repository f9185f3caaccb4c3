ALTER TABLE auto_topups DROP COLUMN sent_at;
