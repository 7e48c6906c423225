-- Why the rules wrote a draft instead of the model that was asked for; `none` where they did not.
ALTER TABLE drafts ADD COLUMN fallback_reason text NOT NULL DEFAULT 'none';
