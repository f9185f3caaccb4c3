-- What went wrong with the service, told to everyone. As status_probes: about no account, and on a cluster on the coordinator only.
CREATE TABLE incidents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    severity text NOT NULL,
    status text NOT NULL,
    components text[] NOT NULL,
    -- The probes open, move and end it, until a person changes it.
    automatic boolean NOT NULL,
    started_at timestamptz NOT NULL,
    identified_at timestamptz,
    monitoring_at timestamptz,
    resolved_at timestamptz,
    CONSTRAINT incidents_severity CHECK (severity IN ('minor', 'major', 'critical')),
    CONSTRAINT incidents_status CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
    CONSTRAINT incidents_resolved CHECK ((status = 'resolved') = (resolved_at IS NOT NULL)),
    CONSTRAINT incidents_components CHECK (cardinality(components) > 0)
);

-- Never changed: what was told stays told.
CREATE TABLE incident_updates (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    incident_id bigint NOT NULL,
    status text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT incident_updates_status CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved'))
);
ALTER TABLE incident_updates
    ADD CONSTRAINT incident_updates_incident_fkey FOREIGN KEY (incident_id) REFERENCES incidents (id);
CREATE INDEX incident_updates_incident ON incident_updates (incident_id);

-- How far the minutes of each component were gone through, and how many on end, up to there, were so.
CREATE TABLE incident_watches (
    component text PRIMARY KEY,
    until timestamptz NOT NULL,
    down bigint NOT NULL,
    bad bigint NOT NULL,
    good bigint NOT NULL,
    CONSTRAINT incident_watches_component CHECK (component IN ('api', 'database', 'jobs', 'webhooks', 'social'))
);
