DROP TABLE closed_ledger;
DROP TABLE erasures;
