-- A pass of the background check that another instance continues must not forget why it is incomplete.

-- Why not everything could be checked in the pass under way; null while everything could.
ALTER TABLE audit_pass ADD COLUMN incomplete text;
