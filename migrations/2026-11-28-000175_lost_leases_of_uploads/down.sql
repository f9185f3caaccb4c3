ALTER TABLE uploads DROP COLUMN lost_leases;
