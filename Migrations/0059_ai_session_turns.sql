-- The last turns of AI sessions: what was asked, what was answered and in which tone, sealed under the master key. A
-- session holds four, and takes them along when it ends or is over.
CREATE TABLE ai_session_turns (
    digest     bytea NOT NULL REFERENCES ai_sessions ON DELETE CASCADE,
    family_id  uuid NOT NULL,
    created_at timestamptz NOT NULL,
    -- The answer's execution.
    id         uuid NOT NULL,
    -- Which master key sealed it.
    master     bytea NOT NULL,
    sealed     bytea NOT NULL,
    PRIMARY KEY (digest, created_at, id)
);
GRANT SELECT, INSERT, DELETE ON ai_session_turns TO nagz_server;
