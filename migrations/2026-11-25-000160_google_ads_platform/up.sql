-- Accounts are connected to Google Ads, of which advertising is read.
INSERT INTO platforms VALUES ('google_ads');
