-- Drafts of digests, and what they send to chosen guardians: a message about no nag.
-- Every row that is there satisfies all of these, so that there is nothing to scan.

ALTER TABLE drafts
    DROP CONSTRAINT drafts_kind_check,
    DROP CONSTRAINT drafts_check1,
    ADD CONSTRAINT drafts_kind_check
        CHECK (kind IN ('suggested_nag', 'due_change', 'push_back', 'consequence', 'digest')) NOT VALID,
    ADD CONSTRAINT drafts_have_nag CHECK (kind IN ('suggested_nag', 'digest') OR nag_id IS NOT NULL) NOT VALID;

ALTER TABLE ai_mediation_events
    -- Of a digest that was sent: who may read it, beside whoever sent it. Null for all others.
    ADD COLUMN recipient_ids uuid[],
    DROP CONSTRAINT ai_mediation_events_prompt_type_check,
    ADD CONSTRAINT ai_mediation_events_prompt_type_check
        CHECK (prompt_type IN ('summarize_excuse', 'select_tone', 'coaching', 'patterns', 'digest',
                               'predict_completion', 'push_back', 'push_back_refused', 'digest_sent')) NOT VALID,
    ADD CONSTRAINT digests_have_recipients
        CHECK (CASE WHEN prompt_type = 'digest_sent'
                    THEN recipient_ids IS NOT NULL AND cardinality(recipient_ids) BETWEEN 1 AND 8
                    ELSE recipient_ids IS NULL END) NOT VALID;

-- A notification is of a nag's event, of something that happened to a connection, or of a draft that sent a message.
ALTER TABLE deliveries
    ADD COLUMN draft_id uuid,
    DROP CONSTRAINT deliveries_have_cause,
    ADD CONSTRAINT deliveries_have_cause CHECK (
        CASE WHEN draft_id IS NOT NULL
                 THEN nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL
             WHEN connection_event IS NOT NULL
                 THEN connection_event IN ('connection_invited', 'connection_accepted')
                      AND nag_id IS NULL AND nag_event_id IS NULL
             ELSE nag_id IS NOT NULL AND nag_event_id IS NOT NULL END) NOT VALID;
-- A draft intends at most one delivery to a person.
CREATE UNIQUE INDEX deliveries_of_draft ON deliveries (family_id, draft_id, user_id) WHERE draft_id IS NOT NULL;
