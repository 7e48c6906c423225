-- Drafts for somebody besides their author: a recipient's proposal for the creator of the nag.

-- Who sees the draft besides its author and the guardians; null for nobody. Adding it reads no row.
ALTER TABLE drafts ADD COLUMN addressee_id uuid;
