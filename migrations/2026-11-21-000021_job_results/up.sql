-- Rises with every roll-up that found something changed.
ALTER TABLE roll_ups ADD COLUMN version bigint NOT NULL DEFAULT 0;

-- What the result of a job that stands was made from: a run that would read the same again has nothing to do. Written in
-- the transaction of the result.
CREATE TABLE job_results (
    account_id bigint NOT NULL REFERENCES accounts (id),
    job text NOT NULL,
    made_from text NOT NULL,
    PRIMARY KEY (account_id, job)
);
