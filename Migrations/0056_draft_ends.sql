-- Drafts end when the AI may no longer work for their author: with the consent, or with the author's preference.

ALTER TABLE drafts
    -- Why expires_at was brought forward; null where it was not.
    ADD COLUMN end_reason text,
    ADD CONSTRAINT drafts_end_reason_check CHECK (end_reason IN ('consent_missing', 'mode_off')) NOT VALID;
GRANT UPDATE (expires_at, end_reason) ON drafts TO nagz_server;
