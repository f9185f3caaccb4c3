-- Who made a key, by the name of that time; null where it was the command line.
ALTER TABLE api_keys ADD COLUMN made_by text;
