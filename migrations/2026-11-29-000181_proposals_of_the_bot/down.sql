ALTER TABLE auto_replies DROP COLUMN proposed_template_id;
