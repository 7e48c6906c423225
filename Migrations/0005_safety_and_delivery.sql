-- Safety, connections between families, what is sent to devices, and reports.

CREATE TABLE blocks (
    id         uuid PRIMARY KEY,
    actor_id   uuid NOT NULL REFERENCES users,
    target_id  uuid NOT NULL REFERENCES users,
    state      text NOT NULL CHECK (state IN ('active', 'lifted')),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (actor_id, target_id),
    CHECK (actor_id <> target_id)
);
CREATE INDEX blocks_against ON blocks (target_id) WHERE state = 'active';

CREATE TABLE abuse_reports (
    id          uuid PRIMARY KEY,
    reporter_id uuid NOT NULL REFERENCES users,
    target_id   uuid NOT NULL REFERENCES users,
    reason      text NOT NULL CHECK (length(reason) BETWEEN 1 AND 2000),
    severity    text NOT NULL DEFAULT 'standard' CHECK (severity IN ('critical', 'standard', 'low')),
    status      text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'investigating', 'resolved', 'dismissed')),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);
CREATE INDEX abuse_reports_by_reporter ON abuse_reports (reporter_id, created_at);

CREATE TABLE connections (
    id            uuid PRIMARY KEY,
    inviter_id    uuid NOT NULL REFERENCES users,
    invitee_id    uuid REFERENCES users,
    invitee_email text NOT NULL CHECK (invitee_email = lower(btrim(invitee_email))),
    status        text NOT NULL CHECK (status IN ('pending', 'active', 'declined', 'revoked')),
    caregiver     boolean NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL,
    responded_at  timestamptz,
    CHECK (inviter_id <> invitee_id),
    CHECK (NOT caregiver OR status IN ('pending', 'active'))
);
-- A pair has one connection that lives, whoever invited.
CREATE UNIQUE INDEX one_living_connection ON connections (least(inviter_id, invitee_id), greatest(inviter_id, invitee_id))
    WHERE status IN ('pending', 'active') AND invitee_id IS NOT NULL;
CREATE UNIQUE INDEX one_pending_invitation ON connections (inviter_id, invitee_email) WHERE status = 'pending';
CREATE INDEX connections_of_invitee ON connections (invitee_id);

CREATE TABLE devices (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users,
    platform     text NOT NULL CHECK (platform IN ('ios', 'ipados', 'macos')),
    token        text NOT NULL UNIQUE CHECK (length(token) BETWEEN 1 AND 512),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz
);
CREATE INDEX devices_of_user ON devices (user_id);

-- A notification intended by a transaction and sent by a worker.
CREATE TABLE deliveries (
    family_id    uuid NOT NULL,
    id           uuid NOT NULL,
    nag_id       uuid NOT NULL,
    nag_event_id uuid NOT NULL,
    user_id      uuid NOT NULL,
    channel      text NOT NULL CHECK (channel IN ('push', 'sms')),
    status       text NOT NULL CHECK (status IN ('pending', 'sent', 'delivered', 'failed')),
    provider_ref text,
    attempts     integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt timestamptz,
    created_at   timestamptz NOT NULL,
    sent_at      timestamptz,
    PRIMARY KEY (family_id, id),
    -- An event intends at most one delivery to a person on a channel.
    UNIQUE (family_id, nag_event_id, user_id, channel)
);
CREATE INDEX deliveries_of_nag ON deliveries (family_id, nag_id);
CREATE INDEX deliveries_due ON deliveries (next_attempt) WHERE status = 'pending';

CREATE TABLE report_snapshots (
    family_id    uuid NOT NULL REFERENCES families,
    period_start timestamptz NOT NULL,
    metrics      jsonb NOT NULL CHECK (jsonb_typeof(metrics) = 'object'),
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (family_id, period_start)
);

GRANT SELECT, INSERT, UPDATE ON blocks, abuse_reports, connections, devices, deliveries TO nagz_server;
GRANT SELECT, INSERT ON report_snapshots TO nagz_server;
GRANT DELETE ON devices TO nagz_server;
