-- Conversations under the shop's posts and the bot that may answer there.

-- Pages and profiles that an account is connected to. The token is sealed; null once the network no longer accepts it.
CREATE TABLE social_accounts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    channel text NOT NULL CHECK (channel IN ('instagram', 'facebook', 'mercadolibre')),
    external_id text NOT NULL,
    -- The network's other number of the same profile, by which own comments may come.
    app_scoped_id text,
    handle text,
    sealed_token bytea,
    connected_at timestamptz NOT NULL,
    ended_at timestamptz,
    last_event_at timestamptz,
    last_poll_at timestamptz,
    -- When it is polled next; null once it has ended.
    poll_due_at timestamptz,
    -- The network asks for a pause until then.
    blocked_until timestamptz,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, channel, external_id)
);
CREATE INDEX social_accounts_due ON social_accounts (poll_due_at);

-- Which account a profile is connected to: a hook names the profile only. Like `shop_owners` it stays on the coordinator.
CREATE TABLE social_owners (
    channel text NOT NULL,
    external_id text NOT NULL,
    owner_id bigint NOT NULL,
    PRIMARY KEY (channel, external_id)
);

-- Hooks as they came, until they are read. Whose they are is not known before.
CREATE TABLE social_hooks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body bytea NOT NULL,
    received_at timestamptz NOT NULL,
    lease_until timestamptz,
    done_at timestamptz
);
CREATE INDEX social_hooks_open ON social_hooks (id) WHERE done_at IS NULL;
CREATE INDEX social_hooks_age ON social_hooks (received_at);

CREATE TABLE social_posts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    external_id text NOT NULL,
    permalink text,
    ad_id text,
    PRIMARY KEY (account_id, channel, external_id)
);

-- A thread: a comment and what was answered to it.
CREATE TABLE conversations (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    channel text NOT NULL CHECK (channel IN ('instagram', 'facebook', 'mercadolibre')),
    external_id text NOT NULL,
    social_account_id bigint NOT NULL,
    post_external_id text,
    author_external_id text,
    username text,
    customer_id bigint,
    status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'snoozed', 'closed')),
    snoozed_until timestamptz,
    handling text NOT NULL DEFAULT 'bot' CHECK (handling IN ('bot', 'human')),
    -- Of the newest comment that was sorted.
    category text CHECK (category IN ('price_question', 'shipping_question', 'stock_question', 'complaint', 'praise', 'spam',
        'other')),
    language text CHECK (language IN ('es', 'pt', 'en')),
    -- The newest comment that was decided about.
    decided_comment_id text,
    -- The newest message: what lists are ordered by.
    position bigint NOT NULL,
    messages_count bigint NOT NULL,
    -- Since when the customer waits; null when the shop spoke last.
    waiting_since timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, channel, external_id),
    CHECK ((status = 'snoozed') = (snoozed_until IS NOT NULL))
);
CREATE INDEX conversations_position ON conversations (account_id, position);
CREATE INDEX conversations_open ON conversations (account_id) INCLUDE (waiting_since) WHERE status = 'open';
CREATE INDEX conversations_snoozed_due ON conversations (snoozed_until) WHERE status = 'snoozed';

CREATE TABLE conversation_messages (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    conversation_id bigint NOT NULL,
    channel text NOT NULL,
    external_id text NOT NULL,
    direction text NOT NULL CHECK (direction IN ('in', 'out')),
    author text NOT NULL CHECK (author IN ('customer', 'bot', 'human')),
    author_external_id text,
    -- Null once it was deleted, or is older than texts are kept.
    body text,
    -- SHA-256 of its words.
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
    hidden boolean NOT NULL DEFAULT false,
    deleted_at timestamptz,
    sent_at timestamptz NOT NULL,
    -- Still to be decided about.
    is_undecided boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, channel, external_id)
);
CREATE INDEX conversation_messages_thread ON conversation_messages (account_id, conversation_id, id);
CREATE INDEX conversation_messages_same ON conversation_messages (account_id, fingerprint, sent_at);
CREATE INDEX conversation_messages_undecided_due ON conversation_messages (id) INCLUDE (account_id) WHERE is_undecided;
CREATE INDEX conversation_messages_age ON conversation_messages (sent_at) WHERE body IS NOT NULL;

CREATE TABLE reply_templates (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    -- As the newest version has them.
    category text NOT NULL,
    language text NOT NULL,
    state text NOT NULL CHECK (state IN ('draft', 'approved', 'retired')),
    version bigint NOT NULL,
    approved_version bigint,
    used_count bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- Never changed, but for being approved.
CREATE TABLE reply_template_versions (
    account_id bigint NOT NULL REFERENCES accounts (id),
    template_id bigint NOT NULL,
    version bigint NOT NULL,
    category text NOT NULL,
    language text NOT NULL,
    variations text[] NOT NULL CHECK (cardinality(variations) BETWEEN 1 AND 5),
    approved_by text,
    approved_at timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, template_id, version),
    CHECK ((approved_by IS NULL) = (approved_at IS NULL))
);

-- What was decided about a comment and became of it. One row a comment: the key is what keeps a second answer from being sent.
CREATE TABLE auto_replies (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    comment_id text NOT NULL,
    conversation_id bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('reserved', 'sending', 'sent', 'unknown', 'held', 'failed', 'skipped', 'dry_run')),
    reason text,
    -- Who chose the words.
    author text NOT NULL CHECK (author IN ('bot', 'human')),
    -- Who decided: the bot, or a person by name.
    actor text NOT NULL,
    mode text NOT NULL,
    category text NOT NULL,
    language text,
    confidence numeric(5, 4) NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    hits text[] NOT NULL,
    comment_hash bytea NOT NULL,
    template_id bigint,
    template_version bigint,
    message text,
    author_external_id text,
    post_external_id text,
    decided_at timestamptz NOT NULL,
    -- Rises with every attempt: a worker whose number is older touches no row.
    claim bigint NOT NULL DEFAULT 0,
    -- How often it may have been sent, and how often it was looked for in vain since.
    attempts bigint NOT NULL DEFAULT 0,
    looks bigint NOT NULL DEFAULT 0,
    -- When a worker takes it next; null where nobody is to.
    due_at timestamptz,
    reserved_at timestamptz,
    sent_at timestamptz,
    reply_id text,
    recovered boolean NOT NULL DEFAULT false,
    -- Whether it may be sent once more if it is not found: the failure said nothing about the answer itself.
    may_retry boolean NOT NULL DEFAULT true,
    judged_at timestamptz,
    judged_correct boolean,
    judged_category text,
    PRIMARY KEY (account_id, channel, comment_id),
    CHECK ((state = 'sent') = (reply_id IS NOT NULL)),
    CHECK (state NOT IN ('reserved', 'sending', 'sent', 'unknown') OR reserved_at IS NOT NULL),
    CHECK ((judged_at IS NULL) = (judged_correct IS NULL))
);
CREATE INDEX auto_replies_due ON auto_replies (due_at) INCLUDE (account_id) WHERE due_at IS NOT NULL;
CREATE INDEX auto_replies_held ON auto_replies (account_id) WHERE state = 'held';
CREATE INDEX auto_replies_reserved ON auto_replies (account_id, reserved_at) WHERE reserved_at IS NOT NULL;
CREATE INDEX auto_replies_judged ON auto_replies (account_id, judged_at) WHERE judged_at IS NOT NULL;

CREATE TABLE social_settings (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    mode text NOT NULL CHECK (mode IN ('off', 'dry_run', 'approve', 'auto')),
    threshold numeric(5, 4) NOT NULL,
    business_hours jsonb NOT NULL CHECK (jsonb_typeof(business_hours) = 'array'),
    per_user_day bigint NOT NULL,
    per_post_hour bigint NOT NULL,
    per_account_hour bigint NOT NULL,
    categories_auto text[] NOT NULL,
    opt_out_words text[] NOT NULL,
    own_hosts text[] NOT NULL,
    link text,
    -- The network refused answers as abusive.
    blocked_at timestamptz,
    updated_at timestamptz NOT NULL
);

-- Who a commenter is, as somebody said or an import told; never guessed from a name.
CREATE TABLE customer_handles (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    author_external_id text NOT NULL,
    customer_id bigint NOT NULL,
    how text NOT NULL CHECK (how IN ('manual', 'import', 'order_note', 'message')),
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, channel, author_external_id)
);

-- Commenters who asked to be left alone.
CREATE TABLE social_opt_outs (
    account_id bigint NOT NULL REFERENCES accounts (id),
    channel text NOT NULL,
    author_external_id text NOT NULL,
    opted_out_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, channel, author_external_id)
);
