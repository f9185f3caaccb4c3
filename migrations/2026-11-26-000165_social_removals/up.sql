-- Comments that a network said are gone before it told of them.
CREATE TABLE social_removals (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    comment_id text NOT NULL,
    -- False: hidden.
    is_deleted boolean NOT NULL,
    told_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, channel, comment_id)
);
CREATE INDEX social_removals_age ON social_removals (told_at);
