DROP TABLE alert_firings;
