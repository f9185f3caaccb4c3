-- One event that the job `anomaly_detection` found, told once however many anomalies it made; these name it.
CREATE TABLE stories (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    -- What it is about; with its days this tells a story from run to run.
    key text NOT NULL,
    first_day date NOT NULL,
    last_day date NOT NULL CHECK (last_day >= first_day),
    -- What is told of it: lever, money, what was seen, whether it is over.
    facts jsonb NOT NULL CHECK (jsonb_typeof(facts) = 'object'),
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, key, first_day)
);
-- Null where an anomaly is no part of one, and for those from before stories were kept.
ALTER TABLE anomalies ADD COLUMN story_id bigint;
CREATE INDEX anomalies_story ON anomalies (account_id, story_id) WHERE story_id IS NOT NULL;
