-- People import lists of nags: each item is an input that became a draft.

ALTER TABLE drafts
    -- The batch that it came with, and the item of it that it was made of.
    ADD COLUMN import_id uuid,
    ADD COLUMN item_id uuid,
    DROP CONSTRAINT drafts_source_check,
    -- Every row that is there satisfies both, so that there is nothing to scan.
    ADD CONSTRAINT drafts_source_check CHECK (source IN ('keyboard', 'camera', 'gallery', 'document', 'voice', 'shortcut',
                                                         'import')) NOT VALID,
    ADD CONSTRAINT drafts_item_of_import CHECK ((import_id IS NULL) = (item_id IS NULL)) NOT VALID;
CREATE INDEX drafts_of_import ON drafts (family_id, import_id, id) WHERE import_id IS NOT NULL;

ALTER TABLE inputs
    -- What an imported item became; the draft may be deleted since.
    ADD COLUMN import_id uuid,
    ADD COLUMN draft_id uuid,
    DROP CONSTRAINT inputs_outcome_check,
    ADD CONSTRAINT inputs_outcome_check
        CHECK (outcome IN ('applied', 'already_done', 'conflict', 'refused', 'drafted')) NOT VALID,
    ADD CONSTRAINT inputs_item_of_import
        CHECK ((outcome = 'drafted') = (import_id IS NOT NULL) AND (outcome = 'drafted') = (draft_id IS NOT NULL)) NOT VALID;
CREATE INDEX inputs_of_import ON inputs (family_id, import_id) WHERE import_id IS NOT NULL;
