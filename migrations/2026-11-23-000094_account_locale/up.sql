-- In which language an account's texts are written where a request does not say, and the country (ISO 3166-1) whose way of
-- writing numbers, amounts and dates they follow; none for the way that is usual in the language.
ALTER TABLE accounts ADD COLUMN language text NOT NULL DEFAULT 'en';
ALTER TABLE accounts ADD COLUMN country text;
ALTER TABLE accounts ADD CONSTRAINT accounts_language CHECK (language IN ('en', 'es', 'pt-BR'));
ALTER TABLE accounts ADD CONSTRAINT accounts_country CHECK (country ~ '^[A-Z]{2}$');
