-- Accounts are connected to Meta, of which advertising is read.
INSERT INTO platforms VALUES ('meta');
