-- What each metric was on each full day and what had been expected of it, as the job `anomaly_detection` saw it.
CREATE TABLE metric_days (
    account_id bigint NOT NULL REFERENCES accounts (id),
    metric text NOT NULL,
    day date NOT NULL,
    -- Null where the day does not tell it: a ratio without a denominator.
    observed double precision,
    -- Null on a holiday and where too little was known before; the interval holds about 95 % of ordinary days.
    expected double precision,
    low double precision,
    high double precision,
    PRIMARY KEY (account_id, metric, day),
    CONSTRAINT metric_days_expected CHECK (num_nulls(expected, low, high) IN (0, 3))
);
