-- Written at most every few minutes, beside the requests.
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz;
