-- Advertising by ad and day. `ad_spend` stays the one source of the spend that profit is made of: whoever writes these tables
-- rolls them up into it in the same transaction. Rows refer to each other without foreign keys, as those of documents do.

-- Where ads are bought, as far as it is known: an account on a platform, or what a file calls the platform.
CREATE TABLE ad_accounts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    platform text NOT NULL CHECK (platform IN ('meta', 'google', 'mercadolibre', 'manual')),
    -- Its platform in ad_spend: what the file says, or the platform's own name.
    external_id text NOT NULL,
    source text NOT NULL CHECK (source IN ('file', 'sync')),
    -- The clock that its days are cut by; null where it is that of the account.
    timezone text,
    last_synced_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, source, platform, external_id)
);

-- Campaigns, their ad sets and the ads in these. What a source does not split is one ad without a name in one ad set without
-- a name, so that every figure is an ad's.
CREATE TABLE ad_entities (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    ad_account_id bigint NOT NULL,
    level text NOT NULL CHECK (level IN ('campaign', 'ad_set', 'ad')),
    -- 0 for campaigns, so that it takes part in the unique key.
    parent_id bigint NOT NULL CHECK ((parent_id = 0) = (level = 'campaign')),
    -- Of an ad set or ad.
    campaign_id bigint CHECK ((campaign_id IS NULL) = (level = 'campaign')),
    external_id text NOT NULL,
    name text NOT NULL,
    -- Of an ad. What is above has the status of its liveliest ad.
    status text NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    creative_id bigint,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, ad_account_id, level, parent_id, external_id)
);
CREATE INDEX ad_entities_campaign ON ad_entities (account_id, campaign_id);

-- What an ad did on a day of its ad account. Counts and revenue are null where the source does not tell, 0 where there were
-- none.
CREATE TABLE ad_days (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    ad_id bigint NOT NULL,
    -- As the source has it.
    currency text NOT NULL,
    native_spend numeric(26, 6) NOT NULL CHECK (native_spend >= 0),
    native_revenue numeric(26, 6) CHECK (native_revenue >= 0),
    -- Units of the account's currency for one of `currency`; null where no rate is known, and then both amounts are.
    fx numeric(20, 10) CHECK (fx > 0),
    spend numeric(26, 6),
    revenue numeric(26, 6),
    impressions bigint CHECK (impressions >= 0),
    clicks bigint CHECK (clicks >= 0),
    purchases bigint CHECK (purchases >= 0),
    -- Views of a video's first three seconds.
    video_3s bigint CHECK (video_3s >= 0),
    -- By which clicks and views the platform counts purchases.
    attribution text,
    PRIMARY KEY (account_id, day, ad_id, currency)
);
CREATE INDEX ad_days_ad ON ad_days (account_id, ad_id, day);

-- Days that a source has told of, with or without figures.
CREATE TABLE ad_coverage (
    account_id bigint NOT NULL REFERENCES accounts (id),
    ad_account_id bigint NOT NULL,
    day date NOT NULL,
    PRIMARY KEY (account_id, ad_account_id, day)
);

-- What ads show. The key is the same wherever the creative runs: platform, format and what identifies it there.
CREATE TABLE creatives (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    platform text NOT NULL,
    key text NOT NULL,
    format text NOT NULL CHECK (format IN ('video', 'image', 'carousel', 'text', 'unknown')),
    headline text,
    body text,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, key)
);

-- What a unit of a currency was worth in the account's on a day.
CREATE TABLE fx_rates (
    account_id bigint NOT NULL REFERENCES accounts (id),
    currency text NOT NULL,
    day date NOT NULL,
    rate numeric(20, 10) NOT NULL CHECK (rate > 0),
    PRIMARY KEY (account_id, currency, day)
);

-- What came in before is known by campaign.
INSERT INTO ad_accounts (account_id, platform, external_id, source, last_synced_at)
SELECT DISTINCT s.account_id,
    CASE regexp_replace(regexp_replace(lower(s.platform), '[^a-z0-9]', '', 'g'), 'ads$', '')
        WHEN 'meta' THEN 'meta' WHEN 'facebook' THEN 'meta' WHEN 'instagram' THEN 'meta'
        WHEN 'google' THEN 'google' WHEN 'adwords' THEN 'google'
        WHEN 'mercadolibre' THEN 'mercadolibre' WHEN 'mercadolivre' THEN 'mercadolibre' WHEN 'mercado' THEN 'mercadolibre'
        ELSE 'manual'
    END,
    s.platform, 'file', now()
FROM ad_spend s JOIN accounts a ON a.id = s.account_id AND a.copy_of IS NULL;
INSERT INTO ad_entities (account_id, ad_account_id, level, parent_id, external_id, name, status)
SELECT DISTINCT s.account_id, a.id, 'campaign', 0, s.campaign, s.campaign, 'active'
FROM ad_spend s JOIN ad_accounts a ON a.account_id = s.account_id AND a.external_id = s.platform;
INSERT INTO ad_entities (account_id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
SELECT account_id, ad_account_id, 'ad_set', id, id, '', '', 'active' FROM ad_entities WHERE level = 'campaign';
INSERT INTO ad_entities (account_id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
SELECT account_id, ad_account_id, 'ad', id, campaign_id, '', '', 'active' FROM ad_entities WHERE level = 'ad_set';
INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend, impressions, clicks)
SELECT s.account_id, s.day, ad.id, o.currency, s.spend, 1, s.spend, s.impressions, s.clicks
FROM ad_spend s JOIN accounts o ON o.id = s.account_id
    JOIN ad_accounts a ON a.account_id = s.account_id AND a.external_id = s.platform
    JOIN ad_entities c ON c.account_id = s.account_id AND c.ad_account_id = a.id AND c.level = 'campaign'
        AND c.external_id = s.campaign
    JOIN ad_entities ad ON ad.account_id = s.account_id AND ad.campaign_id = c.id AND ad.level = 'ad';
INSERT INTO ad_coverage (account_id, ad_account_id, day)
SELECT DISTINCT d.account_id, ad.ad_account_id, d.day
FROM ad_days d JOIN ad_entities ad ON ad.account_id = d.account_id AND ad.id = d.ad_id;
