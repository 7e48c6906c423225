-- A person's own question to the coach is an answer of the mediator like the others.

ALTER TABLE ai_mediation_events
    DROP CONSTRAINT ai_mediation_events_prompt_type_check,
    -- Every row that is there satisfies it, so that there is nothing to scan.
    ADD CONSTRAINT ai_mediation_events_prompt_type_check
        CHECK (prompt_type IN ('summarize_excuse', 'select_tone', 'coaching', 'patterns', 'digest',
                               'predict_completion', 'push_back', 'push_back_refused', 'digest_sent', 'ask_coach'))
        NOT VALID;
