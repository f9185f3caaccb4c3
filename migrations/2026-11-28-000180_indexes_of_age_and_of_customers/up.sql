-- What was answered in a thread is looked up with every comment of it.
CREATE INDEX auto_replies_conversation ON auto_replies (account_id, conversation_id);

-- For what is wiped or removed by its age, of all accounts at once: some of the few indexes that account_id does not lead.
CREATE INDEX auto_replies_age ON auto_replies (decided_at) WHERE message IS NOT NULL;
CREATE INDEX alert_firings_age ON alert_firings (fired_at);
CREATE INDEX job_runs_age ON job_runs (finished_at) WHERE state = 'done';

-- What says something of a buyer is found when the buyer is forgotten.
CREATE INDEX conversations_customer ON conversations (account_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX risks_customer ON risks (account_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX customer_handles_customer ON customer_handles (account_id, customer_id);

-- For the foreign key to the run, and for the calls of one.
CREATE INDEX ai_calls_run ON ai_calls (account_id, run_id);
