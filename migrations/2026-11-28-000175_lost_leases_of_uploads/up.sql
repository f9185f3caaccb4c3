-- Leases that ran out since the import was asked for: a file that its workers die of is given up.
ALTER TABLE uploads ADD COLUMN lost_leases bigint NOT NULL DEFAULT 0;
