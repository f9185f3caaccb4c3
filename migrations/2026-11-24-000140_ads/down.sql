DROP TABLE fx_rates;
DROP TABLE creatives;
DROP TABLE ad_coverage;
DROP TABLE ad_days;
DROP TABLE ad_entities;
DROP TABLE ad_accounts;
