-- Entries are numbered 1, 2, 3 … in the chain of a family that has a clock. New rows are checked from now on; the next
-- migration checks those that are there, in a transaction of its own, so that writers never wait for it.
ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_number CHECK (n > 0) NOT VALID;
ALTER TABLE audit_payload ADD CONSTRAINT audit_payload_number CHECK (n > 0) NOT VALID;
ALTER TABLE audit_leaf ADD CONSTRAINT audit_leaf_number CHECK (n > 0) NOT VALID;

-- The server adds rows for families with a clock, and for no others. Policies instead of foreign keys: a key's check is a
-- statement of its own for each entry, which cost a write 15 µs more, and would lock every family's clock while the
-- sequencer adds leaves. The owner of the tables is held to neither; the verifiers name what it adds.
ALTER TABLE audit_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_payload ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_leaf ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON audit_entry FOR SELECT USING (true);
CREATE POLICY readable ON audit_payload FOR SELECT USING (true);
CREATE POLICY readable ON audit_leaf FOR SELECT USING (true);
CREATE POLICY has_clock ON audit_entry FOR INSERT
    WITH CHECK (EXISTS (SELECT FROM family_clock c WHERE c.family_id = audit_entry.family_id));
CREATE POLICY has_clock ON audit_payload FOR INSERT
    WITH CHECK (EXISTS (SELECT FROM family_clock c WHERE c.family_id = audit_payload.family_id));
CREATE POLICY has_clock ON audit_leaf FOR INSERT
    WITH CHECK (EXISTS (SELECT FROM family_clock c WHERE c.family_id = audit_leaf.family_id));
