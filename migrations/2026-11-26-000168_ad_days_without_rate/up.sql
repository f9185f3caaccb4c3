-- Days of ads whose spend is in no sum, as no rate of exchange is known for them: few, and asked for with every day of profit.
CREATE INDEX ad_days_without_rate ON ad_days (account_id, day) WHERE fx IS NULL;
