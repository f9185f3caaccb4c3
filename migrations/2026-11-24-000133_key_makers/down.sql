ALTER TABLE api_keys DROP COLUMN made_by;
