-- Nags and what happens to them. Rows carry the ledger's stamps (sync_seq, sync_ts); a row changed is stamped anew.
-- The event tables are append-only and keyed in feed order, so that a page of the feed is one stretch of one index.

CREATE TABLE nags (
    family_id              uuid NOT NULL,
    id                     uuid NOT NULL,
    creator_id             uuid NOT NULL,
    recipient_id           uuid NOT NULL,
    due_at                 timestamptz NOT NULL,
    category               text NOT NULL CHECK (category IN ('chores', 'meds', 'homework', 'appointments', 'other')),
    done_definition        text NOT NULL CHECK (done_definition IN ('ack_only', 'binary_check', 'binary_with_note')),
    description            text CHECK (length(description) <= 2000),
    strategy_template      text NOT NULL DEFAULT 'friendly_reminder' CHECK (strategy_template = 'friendly_reminder'),
    policy_id              uuid,
    recurrence             text CHECK (recurrence IN ('every_5_minutes', 'every_15_minutes', 'every_30_minutes', 'hourly',
                                                      'daily', 'weekly', 'monthly')),
    -- The nag this one follows in its series, and the series' first due time (the day a monthly nag comes back to).
    parent_nag_id          uuid,
    series_due_at          timestamptz,
    status                 text NOT NULL CHECK (status IN ('open', 'completed', 'missed', 'withdrawn',
                                                           'cancelled_relationship_change')),
    created_at             timestamptz NOT NULL,
    completed_at           timestamptz,
    closed_at              timestamptz,
    committed_at           timestamptz,
    recipient_dismissed_at timestamptz,
    completion_note        text CHECK (length(completion_note) <= 2000),
    -- When the present due cycle began: creation, or the last time the due time was moved by somebody entitled to.
    cycle_started_at       timestamptz NOT NULL,
    source                 text NOT NULL DEFAULT 'text',
    sync_seq               bigint NOT NULL,
    sync_ts                timestamptz NOT NULL,
    PRIMARY KEY (family_id, id),
    FOREIGN KEY (family_id, creator_id) REFERENCES memberships (family_id, user_id),
    FOREIGN KEY (family_id, recipient_id) REFERENCES memberships (family_id, user_id),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
    CHECK ((status = 'open') = (closed_at IS NULL)),
    CHECK (status <> 'completed' OR done_definition <> 'binary_with_note' OR completion_note <> '')
) WITH (fillfactor = 85);
CREATE INDEX nags_feed ON nags (family_id, sync_ts, id);
CREATE INDEX nags_of_recipient ON nags (family_id, recipient_id, status, category);
CREATE INDEX nags_of_creator ON nags (family_id, creator_id, created_at);
CREATE INDEX nags_by_due ON nags (family_id, due_at);
-- The order of the list: a page of a long history is a few steps in the index.
CREATE INDEX nags_listed ON nags (family_id, (status = 'open') DESC, created_at DESC, id DESC);
-- At most one open instance per series.
CREATE UNIQUE INDEX one_next_instance ON nags (family_id, parent_nag_id) WHERE parent_nag_id IS NOT NULL;

CREATE TABLE nag_events (
    family_id    uuid NOT NULL,
    id           uuid NOT NULL,
    nag_id       uuid NOT NULL,
    event_type   text NOT NULL CHECK (length(event_type) BETWEEN 1 AND 64),
    -- The system's own acts carry a fixed id.
    actor_id     uuid NOT NULL,
    recipient_id uuid NOT NULL,
    at           timestamptz NOT NULL,
    -- A map of strings.
    payload      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(payload) = 'object'),
    source       text NOT NULL DEFAULT 'text' CHECK (source IN ('text', 'voice', 'camera_ocr', 'gallery_ocr', 'document',
                                                                'habit', 'legacy', 'onboarding', 'system')),
    sync_seq     bigint NOT NULL,
    sync_ts      timestamptz NOT NULL,
    PRIMARY KEY (family_id, sync_ts, id)
);
CREATE INDEX nag_events_of_nag ON nag_events (family_id, nag_id, at);
CREATE INDEX misses ON nag_events (family_id, recipient_id, at) WHERE event_type = 'nag_missed';
-- What can happen to a nag only once.
CREATE UNIQUE INDEX one_outcome ON nag_events (family_id, nag_id)
    WHERE event_type IN ('nag_completed', 'nag_missed', 'nag_withdrawn', 'nag_cancelled');

CREATE TABLE excuses (
    family_id  uuid NOT NULL,
    id         uuid NOT NULL,
    nag_id     uuid NOT NULL,
    author_id  uuid NOT NULL,
    -- Null when only the summary left the author's device.
    text       text CHECK (length(text) <= 2000),
    summary    text NOT NULL CHECK (length(summary) <= 2000),
    category   text NOT NULL CHECK (category IN ('forgot', 'time_conflict', 'unclear_instructions', 'lacking_resources',
                                                 'refused', 'other')),
    confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source     text NOT NULL DEFAULT 'text',
    at         timestamptz NOT NULL,
    PRIMARY KEY (family_id, id),
    FOREIGN KEY (family_id, nag_id) REFERENCES nags (family_id, id)
);
CREATE INDEX excuses_of_nag ON excuses (family_id, nag_id, at);
CREATE INDEX excuses_of_author ON excuses (family_id, author_id, at);

CREATE TABLE ai_mediation_events (
    family_id   uuid NOT NULL,
    id          uuid NOT NULL,
    -- The nil id for operations that are about no single nag.
    nag_id      uuid NOT NULL,
    prompt_type text NOT NULL CHECK (prompt_type IN ('summarize_excuse', 'select_tone', 'coaching', 'patterns', 'digest',
                                                     'predict_completion', 'push_back', 'push_back_refused')),
    tone        text NOT NULL CHECK (tone IN ('neutral', 'supportive', 'firm')),
    summary     text NOT NULL CHECK (length(summary) <= 2000),
    -- On whose behalf the mediator acted.
    actor_id    uuid NOT NULL,
    at          timestamptz NOT NULL,
    sync_seq    bigint NOT NULL,
    sync_ts     timestamptz NOT NULL,
    PRIMARY KEY (family_id, sync_ts, id)
);
CREATE INDEX push_backs ON ai_mediation_events (family_id, nag_id, at) WHERE prompt_type = 'push_back';

GRANT SELECT, INSERT, UPDATE ON nags TO nagz_server;
GRANT SELECT, INSERT ON nag_events, excuses, ai_mediation_events TO nagz_server;
