-- What an insight is ranked by, in the account's currency: the money at stake, or what its severity counts as where that is not
-- known. NULL until it is next written.
ALTER TABLE insights ADD COLUMN weight double precision;
