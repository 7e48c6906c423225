-- Pages of the trail walk one index each, backwards, and it must be the one that is meant: plans are made without knowing
-- values, and would take the walk over all entries for a short one. So that one is taken only by statements that ask for it,
-- by repeating a condition that always holds, and the order of the other is one that the primary key does not give.
DROP INDEX audit_by_time, audit_by_kind;
CREATE INDEX audit_by_time ON audit_entry (at) WHERE n > 0;
CREATE INDEX audit_by_kind ON audit_entry (family_id, kind, n NULLS FIRST);
-- A trace is whatever a client calls one, so it may hold any number of entries: the newest of them are found first.
DROP INDEX audit_by_trace;
CREATE INDEX audit_by_trace ON audit_entry (trace, at);
