DROP TABLE alert_rules;
