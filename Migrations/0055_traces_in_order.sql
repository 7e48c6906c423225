-- The IDs of new traces begin with the time, so a B-tree grows at its end and costs each answer less than a hash index.
-- lock: ai_executions_by_trace_id: a second for a million executions; questions wait that long, nothing else writes the table.
CREATE INDEX ai_executions_by_trace_id ON ai_executions (trace_id);
-- contract: ai_executions_by_trace: 0.1.0 finds traces by the new index too.
DROP INDEX ai_executions_by_trace;
