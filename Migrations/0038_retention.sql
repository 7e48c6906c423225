-- How long data is kept: what housekeeping deletes of it.

-- What retention has deleted of a member's gamification events: the sums go on counting it.
ALTER TABLE member_totals
    ADD COLUMN dropped_points      bigint NOT NULL DEFAULT 0,
    ADD COLUMN dropped_streak      bigint NOT NULL DEFAULT 0,
    ADD COLUMN dropped_events      bigint NOT NULL DEFAULT 0,
    ADD COLUMN dropped_completions bigint NOT NULL DEFAULT 0;

-- Housekeeping finds the oldest rows of all families, a batch at a time.
CREATE INDEX nag_events_by_age ON nag_events (sync_ts);
CREATE INDEX gamification_events_by_age ON gamification_events (sync_ts);
CREATE INDEX ai_mediation_events_by_age ON ai_mediation_events (sync_ts);
CREATE INDEX incentive_events_by_age ON incentive_events (at);
CREATE INDEX inputs_by_age ON inputs (received_at);
CREATE INDEX enrichments_by_age ON enrichments (made_at);
CREATE INDEX excuses_by_age ON excuses (at);
CREATE INDEX nags_with_words ON nags (closed_at)
    WHERE closed_at IS NOT NULL AND (description IS NOT NULL OR completion_note IS NOT NULL);
CREATE INDEX closed_abuse_reports ON abuse_reports (updated_at) WHERE status IN ('resolved', 'dismissed');
CREATE INDEX comments_by_age ON policy_approvals (approved_at) WHERE comment IS NOT NULL;
GRANT DELETE ON nag_events, gamification_events, ai_mediation_events, incentive_events, inputs, enrichments, excuses,
    deliveries, abuse_reports TO nagz_server;
