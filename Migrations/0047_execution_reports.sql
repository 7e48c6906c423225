-- A record of a question has what differs from an ordinary answer, because most are ordinary and each is written with its answer.
COMMENT ON COLUMN ai_executions.report IS 'members of the API''s ExecutionReport that differ from an ordinary answer';
-- The identifiers of the evaluated constraints, sixteen bytes each; null for none, and in older records, whose report has them.
ALTER TABLE ai_executions ADD COLUMN evaluated bytea;
