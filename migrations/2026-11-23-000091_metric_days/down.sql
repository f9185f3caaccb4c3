DROP TABLE metric_days;
