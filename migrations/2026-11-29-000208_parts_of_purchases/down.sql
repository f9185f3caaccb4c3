ALTER TABLE ad_days DROP COLUMN purchases_exact;
