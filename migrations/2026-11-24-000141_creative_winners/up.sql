-- What the job `creative_winners` last said of a creative in a campaign. A row stays when the creative does not run any more:
-- it tells that a winner was announced.
CREATE TABLE campaign_creatives (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    campaign_id bigint NOT NULL,
    creative_id bigint NOT NULL,
    first_seen date NOT NULL,
    last_seen date NOT NULL,
    status text NOT NULL
        CHECK (status IN ('winner', 'leading', 'testing', 'insufficient_data', 'faded', 'losing')),
    metric text CHECK (metric IN ('roas', 'purchases_per_mille', 'ctr')),
    -- The e-value by how many creatives were compared, and the lift: all null without enough data.
    evidence numeric(20, 4),
    lift_observed numeric(20, 6),
    lift numeric(20, 6),
    lift_low numeric(20, 6),
    lift_high numeric(20, 6),
    compared_with bigint NOT NULL,
    days bigint NOT NULL,
    -- What is missing to judge it: all null, or none.
    needs_purchases bigint,
    needs_days bigint,
    needs_spend numeric(26, 6),
    ctr_ratio numeric(20, 6),
    is_fatigued boolean,
    -- The spread of true differences that the lift was shrunk by.
    tau numeric(6, 4) NOT NULL,
    won_at timestamptz,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, campaign_id, creative_id)
);
