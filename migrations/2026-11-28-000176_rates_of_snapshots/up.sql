-- Whether ad spend of the day had no rate of exchange when the snapshot was computed; of older ones only the days of ads tell.
ALTER TABLE profit_snapshots ADD COLUMN lacks_rates boolean NOT NULL DEFAULT false;
