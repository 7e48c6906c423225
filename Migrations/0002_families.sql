-- Families, who belongs to them, what they allow, and the family ledger's head.

CREATE TABLE families (
    id          uuid PRIMARY KEY,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    -- Upper-case; compared in any case.
    invite_code text NOT NULL UNIQUE CHECK (invite_code = upper(invite_code)),
    child_code  text UNIQUE CHECK (child_code ~ '^[A-Z0-9]{6,8}$'),
    time_zone   text NOT NULL DEFAULT 'America/New_York',
    created_at  timestamptz NOT NULL
);

-- The family ledger: one row a family, taken by every write transaction of that family. It hands out the next number
-- and a strictly growing time, so the order of numbers is the commit order, and it carries the head of the audit chain.
-- The row with the nil id is the chain of acts outside any family.
CREATE TABLE family_clock (
    family_id     uuid PRIMARY KEY,
    -- One more with every write; also the number of the newest audit entry.
    seq           bigint NOT NULL DEFAULT 0,
    ts            timestamptz NOT NULL DEFAULT 'epoch',
    -- Rows stamped in the whole second of ts, so that a second never outgrows a page of the feed.
    burst         integer NOT NULL DEFAULT 0,
    -- The newest seq that changed who may do what (membership, consent, preference, policy).
    authority_seq bigint NOT NULL DEFAULT 0,
    -- Changes when a restored or promoted database may have lost numbers it had handed out.
    epoch         bigint NOT NULL DEFAULT 1,
    prev_head     bytea NOT NULL DEFAULT sha256(''),
    head          bytea NOT NULL DEFAULT sha256('')
) WITH (fillfactor = 50);
INSERT INTO family_clock (family_id) VALUES ('00000000-0000-0000-0000-000000000000');

-- The time of the next write: never at or before the last, and in the next whole second when `rows` more would not fit
-- into this one (400 at most, so that a page of 500 always holds a second). STABLE, so that both are inlined.
CREATE FUNCTION ledger_ts(last timestamptz, burst integer, now timestamptz, rows integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN burst + rows > 400 AND now < date_bin('1 second', last, timestamptz 'epoch') + interval '1 second'
    THEN date_bin('1 second', last, timestamptz 'epoch') + interval '1 second'
    ELSE greatest(now, last + interval '1 microsecond')
END;

CREATE FUNCTION ledger_burst(last timestamptz, burst integer, next timestamptz, rows integer) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN next < date_bin('1 second', last, timestamptz 'epoch') + interval '1 second' THEN burst + rows
    ELSE rows
END;

CREATE TABLE memberships (
    family_id  uuid NOT NULL REFERENCES families,
    user_id    uuid NOT NULL REFERENCES users,
    role       text NOT NULL CHECK (role IN ('guardian', 'participant', 'child')),
    status     text NOT NULL CHECK (status IN ('active', 'removed')),
    joined_at  timestamptz NOT NULL,
    removed_at timestamptz,
    PRIMARY KEY (family_id, user_id),
    CHECK ((status = 'removed') = (removed_at IS NOT NULL))
);
-- One active family per user.
CREATE UNIQUE INDEX one_active_family ON memberships (user_id) WHERE status = 'active';

-- How a child signs in: the family's child code, a name, a PIN (argon2id).
CREATE TABLE child_credentials (
    family_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    username  text NOT NULL CHECK (username = btrim(username) AND length(username) BETWEEN 1 AND 64),
    pin_hash  text NOT NULL,
    set_at    timestamptz NOT NULL,
    PRIMARY KEY (family_id, user_id),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships
);
CREATE UNIQUE INDEX child_usernames ON child_credentials (family_id, lower(username));

CREATE TABLE child_settings (
    family_id           uuid NOT NULL,
    user_id             uuid NOT NULL,
    can_snooze          boolean NOT NULL DEFAULT true,
    max_snoozes_per_day integer NOT NULL DEFAULT 3 CHECK (max_snoozes_per_day BETWEEN 0 AND 99),
    can_submit_excuses  boolean NOT NULL DEFAULT true,
    quiet_hours_start   time,
    quiet_hours_end     time,
    PRIMARY KEY (family_id, user_id),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships
);

-- Between every two members; made with the membership. The smaller id comes first, so a pair has one row.
CREATE TABLE relationships (
    family_id uuid NOT NULL,
    id        uuid NOT NULL,
    party_a   uuid NOT NULL,
    party_b   uuid NOT NULL,
    status    text NOT NULL CHECK (status IN ('active', 'suspended', 'revoked')),
    PRIMARY KEY (family_id, party_a, party_b),
    UNIQUE (family_id, id),
    CHECK (party_a < party_b),
    FOREIGN KEY (family_id, party_a) REFERENCES memberships (family_id, user_id),
    FOREIGN KEY (family_id, party_b) REFERENCES memberships (family_id, user_id)
);

-- Never deleted: revoking keeps the record.
CREATE TABLE consents (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users,
    -- Null for what concerns a person alone (sms_opt_in).
    family_id    uuid REFERENCES families,
    consent_type text NOT NULL CHECK (consent_type IN
        ('child_account_creation', 'sms_opt_in', 'ai_mediation', 'gamification_participation')),
    granted_at   timestamptz NOT NULL,
    revoked_at   timestamptz,
    CHECK ((consent_type = 'sms_opt_in') = (family_id IS NULL)),
    CHECK (revoked_at >= granted_at)
);
CREATE UNIQUE INDEX one_consent_in_force ON consents (family_id, consent_type, user_id) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX one_personal_consent_in_force ON consents (user_id, consent_type)
    WHERE revoked_at IS NULL AND family_id IS NULL;

CREATE TABLE preferences (
    family_id  uuid NOT NULL,
    user_id    uuid NOT NULL,
    -- What the person has set, unknown keys included; defaults are not stored.
    prefs      jsonb NOT NULL CHECK (jsonb_typeof(prefs) = 'object'),
    -- The ledger's number of the last change: what the entity tag is made of.
    changed_by bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (family_id, user_id),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships
);

-- What only the family's policy decides. Every family has one from its creation.
CREATE TABLE policies (
    family_id          uuid NOT NULL REFERENCES families,
    id                 uuid NOT NULL,
    owners             uuid[] NOT NULL CHECK (cardinality(owners) BETWEEN 1 AND 2),
    strategy_template  text NOT NULL DEFAULT 'friendly_reminder' CHECK (strategy_template = 'friendly_reminder'),
    status             text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'proposed', 'superseded')),
    is_default         boolean NOT NULL DEFAULT false,
    daily_cap          integer NOT NULL DEFAULT 8 CHECK (daily_cap BETWEEN 1 AND 8),
    max_snooze_minutes integer NOT NULL DEFAULT 30 CHECK (max_snooze_minutes BETWEEN 5 AND 120),
    points_multiplier  double precision NOT NULL DEFAULT 1 CHECK (points_multiplier BETWEEN 0.1 AND 3.0),
    max_pushback       integer NOT NULL DEFAULT 2 CHECK (max_pushback BETWEEN 0 AND 3),
    cooldown_minutes   integer NOT NULL DEFAULT 60 CHECK (cooldown_minutes BETWEEN 15 AND 240),
    constraints        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(constraints) = 'object'),
    created_at         timestamptz NOT NULL,
    PRIMARY KEY (family_id, id)
);
CREATE UNIQUE INDEX one_default_policy ON policies (family_id) WHERE is_default AND status = 'active';

CREATE TABLE policy_approvals (
    family_id   uuid NOT NULL,
    id          uuid NOT NULL,
    policy_id   uuid NOT NULL,
    approver_id uuid NOT NULL REFERENCES users,
    approved_at timestamptz NOT NULL,
    comment     text CHECK (length(comment) <= 2000),
    PRIMARY KEY (family_id, id),
    UNIQUE (family_id, policy_id, approver_id),
    FOREIGN KEY (family_id, policy_id) REFERENCES policies
);

-- Which places of a family's feed a session was handed as `server_time`: a `since` that is not among them may come from
-- another family, the future or a restored backup, or from when the person could see less, and is answered with everything.
-- Losing a row costs a full resync, never a lost change, so it is written without waiting for the disk.
CREATE TABLE sync_grants (
    session_id uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    family_id  uuid NOT NULL,
    -- Whole second times eight, plus what the session could see (1 everybody's nags, 2 mediation, 4 points); newest first.
    places     bigint[] NOT NULL CHECK (cardinality(places) <= 16),
    PRIMARY KEY (session_id, family_id)
) WITH (fillfactor = 70);

GRANT SELECT, INSERT, UPDATE ON families, family_clock, memberships, child_credentials, child_settings, relationships,
    consents, preferences, policies, sync_grants TO nagz_server;
GRANT SELECT, INSERT ON policy_approvals TO nagz_server;
GRANT DELETE ON child_credentials, sync_grants TO nagz_server;
