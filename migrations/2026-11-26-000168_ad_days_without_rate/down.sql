DROP INDEX ad_days_without_rate;
