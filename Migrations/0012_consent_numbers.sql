-- Which act of the family's ledger gave a consent: the feed knows by it whether somebody agreed after a place was handed out.
ALTER TABLE consents ADD COLUMN granted_seq bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN sync_grants.places IS
    'Whole second times eight, plus what the session could see (1 everybody''s nags, 2 mediation, 4 points), plus, from bit 41 '
    'on, whose points (0 everybody''s, else one more than the granted_seq of the newest who agreed); newest first.';
