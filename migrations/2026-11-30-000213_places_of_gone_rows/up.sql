-- Where rows that are gone were in their lists, for two days: who read a page that ended with one goes on behind it.
CREATE TABLE gone_places (
    account_id bigint NOT NULL REFERENCES accounts (id),
    list text NOT NULL CHECK (list IN ('anomalies', 'inventory', 'risks')),
    id bigint NOT NULL,
    -- What the list is ordered by: the instant of anomalies, rank and amount of risks, all but the instant of inventory.
    detected_at timestamptz,
    rank smallint,
    amount numeric,
    name text,
    gone_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, list, id)
);
