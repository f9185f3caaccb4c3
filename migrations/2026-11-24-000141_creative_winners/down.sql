DROP TABLE campaign_creatives;
