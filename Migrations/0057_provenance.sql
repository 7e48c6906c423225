-- Inputs tell how sure their device was of the words and where they were entered; promises, snoozes and dismissals are
-- inputs; and dictated words about somebody else become a draft without an import.
-- contract: inputs.inputs_draft_is_known: what 0.1.0 writes satisfies it, because it follows from inputs_item_of_import.

ALTER TABLE inputs
    ADD COLUMN confidence double precision,
    ADD COLUMN source_context text,
    DROP CONSTRAINT inputs_kind_check,
    DROP CONSTRAINT inputs_item_of_import,
    -- Every row that is there satisfies all of these, so that there is nothing to scan.
    ADD CONSTRAINT inputs_kind_check
        CHECK (kind IN ('status', 'excuse', 'note', 'nag', 'promise', 'snooze', 'dismiss', 'undismiss')) NOT VALID,
    ADD CONSTRAINT inputs_confidence_check CHECK (confidence BETWEEN 0 AND 1) NOT VALID,
    ADD CONSTRAINT inputs_source_context_check CHECK (
        source_context IN ('dashboard', 'capture', 'import', 'habit', 'legacy', 'onboarding')) NOT VALID,
    ADD CONSTRAINT inputs_draft_is_known
        CHECK ((outcome = 'drafted') = (draft_id IS NOT NULL) AND (import_id IS NULL OR outcome = 'drafted')) NOT VALID;
