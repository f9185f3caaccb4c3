-- Mails to be sent, as facts: their links are made when they are sent. The row goes when that is done.
CREATE TABLE mails (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recipient text NOT NULL,
    language text NOT NULL,
    facts jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    -- Also the end of the lease of the process that sends it.
    due_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    CONSTRAINT mails_language CHECK (language IN ('en', 'es', 'pt-BR'))
);
CREATE INDEX mails_due ON mails (due_at, id);
CREATE INDEX links_user ON links (user_id) WHERE user_id IS NOT NULL;
