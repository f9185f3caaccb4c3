-- The template that the bot proposed, whatever people answer since; NULL where it held the comment back itself. What was judged
-- before counts as it did.
ALTER TABLE auto_replies ADD COLUMN proposed_template_id bigint;
UPDATE auto_replies SET proposed_template_id = template_id
WHERE author = 'bot' AND (state NOT IN ('held', 'skipped') OR reason = 'needs_approval');
