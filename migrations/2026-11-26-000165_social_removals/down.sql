DROP TABLE social_removals;
