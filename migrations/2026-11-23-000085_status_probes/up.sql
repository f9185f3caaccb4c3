-- What every process, and whoever looks from outside, saw of the parts of the service, minute by minute. It is about the service
-- and not about an account, so there is no account_id: on a cluster the table is on the coordinator only, where it is small.
CREATE TABLE status_probes (
    -- The beginning of the minute.
    minute timestamptz NOT NULL,
    component text NOT NULL,
    -- A process, or 'external'.
    source text NOT NULL,
    outcome text NOT NULL,
    latency_ms bigint,
    -- Windows of minutes are read and removed.
    PRIMARY KEY (minute, component, source),
    CONSTRAINT status_probes_component CHECK (component IN ('api', 'database', 'jobs', 'webhooks', 'social')),
    CONSTRAINT status_probes_outcome CHECK (outcome IN ('up', 'degraded', 'down')),
    CONSTRAINT status_probes_latency CHECK (latency_ms >= 0),
    CONSTRAINT status_probes_minute CHECK (extract(second FROM minute) = 0)
);
