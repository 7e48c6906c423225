-- If this fails, somebody else than the server wrote to the audit log: “nagz audit export” and “nagz audit verify” name the
-- rows.
ALTER TABLE audit_entry VALIDATE CONSTRAINT audit_entry_number;
ALTER TABLE audit_payload VALIDATE CONSTRAINT audit_payload_number;
ALTER TABLE audit_leaf VALIDATE CONSTRAINT audit_leaf_number;
