-- Everything people do or say about nags, by whatever way it reached the server: one row an input, one root event each.

CREATE TABLE inputs (
    family_id   uuid NOT NULL,
    user_id     uuid NOT NULL,
    -- The device's own id where it was made offline: the same id is the same input.
    id          uuid NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('status', 'excuse', 'note')),
    nag_id      uuid NOT NULL,
    source      text NOT NULL CHECK (source IN ('text', 'voice', 'camera_ocr', 'gallery_ocr', 'document', 'habit', 'legacy',
                                                'onboarding', 'system')),
    -- By the clock of who made it, and by the server's.
    made_at     timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    -- SHA-256 of the input as it was sent; null for one that came by itself.
    fingerprint bytea CHECK (length(fingerprint) = 32),
    outcome     text NOT NULL CHECK (outcome IN ('applied', 'already_done', 'conflict', 'refused')),
    -- The event of the feed that it became.
    event_id    uuid,
    -- Why it was not applied, as it was told.
    code        text,
    message     text CHECK (length(message) <= 2000),
    PRIMARY KEY (family_id, user_id, id),
    UNIQUE (family_id, event_id),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships,
    CHECK ((outcome = 'applied') = (event_id IS NOT NULL)),
    CHECK ((outcome IN ('conflict', 'refused')) = (code IS NOT NULL AND message IS NOT NULL))
);

-- What was found out about an input later. It hangs on the root event and never makes a second one.
CREATE TABLE enrichments (
    family_id uuid NOT NULL,
    event_id  uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('classification', 'summary', 'relation', 'merge')),
    body      jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
    -- Who found it out: 'system', or the way of the person's own words.
    source    text NOT NULL CHECK (source IN ('text', 'voice', 'camera_ocr', 'gallery_ocr', 'document', 'habit', 'legacy',
                                              'onboarding', 'system')),
    made_at   timestamptz NOT NULL,
    PRIMARY KEY (family_id, event_id, kind),
    FOREIGN KEY (family_id, event_id) REFERENCES inputs (family_id, event_id)
);

GRANT SELECT, INSERT ON inputs, enrichments TO nagz_server;
