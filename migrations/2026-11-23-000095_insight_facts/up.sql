-- What an insight tells, as data, from which its texts are written when it is read; null for those from before. The stored
-- texts are in `language`; they are shown where there are no facts, and a model's where that language is asked for.
ALTER TABLE insights ADD COLUMN facts jsonb;
ALTER TABLE insights ADD COLUMN language text NOT NULL DEFAULT 'en';
ALTER TABLE insights ADD CONSTRAINT insights_language CHECK (language IN ('en', 'es', 'pt-BR'));
