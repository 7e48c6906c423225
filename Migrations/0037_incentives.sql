-- What incentive rules do.

-- A rule that shall not take effect is retired; its earlier versions are superseded. At the end of each transaction a rule
-- has one version that is not superseded.
ALTER TABLE incentive_rules
    ADD COLUMN created_by uuid NOT NULL REFERENCES users,
    DROP CONSTRAINT incentive_rules_status_check,
    ADD CONSTRAINT incentive_rules_status_check CHECK (status IN ('active', 'retired', 'superseded')),
    ADD CONSTRAINT one_current_rule_version EXCLUDE USING btree (family_id WITH =, id WITH =)
        WHERE (status <> 'superseded') DEFERRABLE INITIALLY DEFERRED;
DROP INDEX one_active_rule_version;
-- Every completion reads the active ones.
CREATE INDEX active_incentive_rules ON incentive_rules (family_id, id) WHERE status = 'active';

-- A rule's effect on one person, with one nag. Its points are a gamification event with the same id.
ALTER TABLE incentive_events
    ADD COLUMN user_id    uuid NOT NULL REFERENCES users,
    -- When the reward was given; null while it waits for a guardian.
    ADD COLUMN applied_at timestamptz,
    ADD CONSTRAINT incentive_events_approval_is_applied CHECK (approved_by IS NULL OR applied_at IS NOT NULL);
CREATE INDEX incentive_events_of_member ON incentive_events (family_id, user_id, id);
CREATE INDEX waiting_incentive_events ON incentive_events (family_id, at, id) WHERE applied_at IS NULL;
GRANT UPDATE (approved_by, applied_at) ON incentive_events TO nagz_server;

-- What a family awards by a rule of its own.
ALTER TABLE badges
    DROP CONSTRAINT badges_badge_type_check,
    ADD CONSTRAINT badges_badge_type_check CHECK (badge_type IN (
        'first_completion', 'streak_3', 'streak_7', 'streak_30', 'perfect_week', 'century_club', 'family_award'));
