-- A device's outbox may create nags. One that was not created has no id.

ALTER TABLE inputs
    ALTER COLUMN nag_id DROP NOT NULL,
    DROP CONSTRAINT inputs_kind_check,
    -- Every row that is there satisfies both, so that there is nothing to scan.
    ADD CONSTRAINT inputs_kind_check CHECK (kind IN ('status', 'excuse', 'note', 'nag')) NOT VALID,
    ADD CONSTRAINT inputs_nag_is_known CHECK (nag_id IS NOT NULL OR (kind = 'nag' AND outcome <> 'applied')) NOT VALID;
