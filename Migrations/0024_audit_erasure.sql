-- Erasing a person finds the bodies that their key seals by that key, not by reading each chain whole.
CREATE INDEX audit_payload_by_key ON audit_payload (key_id, family_id) WHERE key_id IS NOT NULL;
