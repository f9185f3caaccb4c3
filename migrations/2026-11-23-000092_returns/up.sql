-- What came back with refunds and cancellations: units, what they had cost, and fees that platforms give back. Goods and fees
-- have it taken off already. The definitions of the sums have another fingerprint, so all days are summed up again.
ALTER TABLE daily_metrics
    ADD COLUMN returned_units bigint NOT NULL DEFAULT 0,
    ADD COLUMN returned_cogs numeric(26, 6) NOT NULL DEFAULT 0,
    ADD COLUMN returned_fees numeric(26, 6) NOT NULL DEFAULT 0;
ALTER TABLE profit_snapshots
    ADD COLUMN returned_units bigint NOT NULL DEFAULT 0,
    ADD COLUMN returned_cogs numeric(26, 6) NOT NULL DEFAULT 0,
    ADD COLUMN returned_fees numeric(26, 6) NOT NULL DEFAULT 0;
