-- Traces are random, and only looked up whole: a hash index costs each answer less than a tree.
CREATE INDEX ai_executions_by_trace ON ai_executions USING hash (trace_id);
DROP INDEX ai_executions_of_trace;
