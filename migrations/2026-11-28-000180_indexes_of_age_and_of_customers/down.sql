DROP INDEX auto_replies_conversation;
DROP INDEX auto_replies_age;
DROP INDEX alert_firings_age;
DROP INDEX job_runs_age;
DROP INDEX conversations_customer;
DROP INDEX risks_customer;
DROP INDEX customer_handles_customer;
DROP INDEX ai_calls_run;
