-- Points, streaks, badges, and the rules that reward them.

CREATE TABLE gamification_events (
    family_id    uuid NOT NULL,
    id           uuid NOT NULL,
    user_id      uuid NOT NULL,
    event_type   text NOT NULL CHECK (length(event_type) BETWEEN 1 AND 64),
    delta_points integer NOT NULL,
    streak_delta integer NOT NULL,
    nag_id       uuid,
    at           timestamptz NOT NULL,
    sync_seq     bigint NOT NULL,
    sync_ts      timestamptz NOT NULL,
    PRIMARY KEY (family_id, sync_ts, id)
);
CREATE INDEX gamification_of_member ON gamification_events (family_id, user_id, at);
-- A nag scores exactly once.
CREATE UNIQUE INDEX one_score ON gamification_events (family_id, nag_id)
    WHERE nag_id IS NOT NULL AND event_type IN ('nag_completed', 'nag_missed');

-- The running sums of a member's gamification events, so that a streak is one row, not a history.
CREATE TABLE member_totals (
    family_id   uuid NOT NULL,
    user_id     uuid NOT NULL,
    points      bigint NOT NULL DEFAULT 0,
    streak      integer NOT NULL DEFAULT 0 CHECK (streak >= 0),
    events      bigint NOT NULL DEFAULT 0,
    completions bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (family_id, user_id),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships
) WITH (fillfactor = 70);

CREATE TABLE badges (
    family_id  uuid NOT NULL,
    user_id    uuid NOT NULL,
    badge_type text NOT NULL CHECK (badge_type IN ('first_completion', 'streak_3', 'streak_7', 'streak_30',
                                                   'perfect_week', 'century_club')),
    id         uuid NOT NULL,
    earned_at  timestamptz NOT NULL,
    PRIMARY KEY (family_id, user_id, badge_type),
    FOREIGN KEY (family_id, user_id) REFERENCES memberships
);

CREATE TABLE incentive_rules (
    family_id     uuid NOT NULL REFERENCES families,
    id            uuid NOT NULL,
    version       integer NOT NULL CHECK (version >= 1),
    condition     jsonb NOT NULL CHECK (jsonb_typeof(condition) = 'object'),
    action        jsonb NOT NULL CHECK (jsonb_typeof(action) = 'object'),
    approval_mode text NOT NULL CHECK (approval_mode IN ('auto', 'guardian_confirmed')),
    status        text NOT NULL CHECK (status IN ('active', 'superseded')),
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (family_id, id, version)
);
CREATE UNIQUE INDEX one_active_rule_version ON incentive_rules (family_id, id) WHERE status = 'active';

CREATE TABLE incentive_events (
    family_id    uuid NOT NULL,
    id           uuid NOT NULL,
    nag_id       uuid NOT NULL,
    rule_id      uuid NOT NULL,
    rule_version integer NOT NULL,
    action_type  text NOT NULL,
    approved_by  uuid,
    at           timestamptz NOT NULL,
    PRIMARY KEY (family_id, id),
    UNIQUE (family_id, nag_id, rule_id),
    FOREIGN KEY (family_id, nag_id) REFERENCES nags (family_id, id),
    FOREIGN KEY (family_id, rule_id, rule_version) REFERENCES incentive_rules (family_id, id, version)
);

GRANT SELECT, INSERT ON gamification_events, badges, incentive_events TO nagz_server;
GRANT SELECT, INSERT, UPDATE ON member_totals, incentive_rules TO nagz_server;
