-- Purchases of an ad and day with their parts, of which `purchases` is the rounded number: platforms attribute one purchase to several
-- ads. Null where it was not kept.
ALTER TABLE ad_days ADD COLUMN purchases_exact numeric(26, 6);
