-- Traces are random, and only looked up whole: a hash index costs each answer less than a tree.
-- lock: ai_executions_by_trace: a second for a million executions; questions wait that long, nothing else writes the table.
CREATE INDEX ai_executions_by_trace ON ai_executions USING hash (trace_id);
-- contract: ai_executions_of_trace: 0.1.0 finds traces by the new index too.
DROP INDEX ai_executions_of_trace;
