-- The family whose guardians may read a report: the one that reporter and target were in together; null where there is none.
ALTER TABLE abuse_reports ADD COLUMN family_id uuid REFERENCES families;

-- The administrators' queue: of one status, and of all, the oldest first.
CREATE INDEX abuse_reports_by_status ON abuse_reports (status, created_at, id);
CREATE INDEX abuse_reports_by_age ON abuse_reports (created_at, id);
