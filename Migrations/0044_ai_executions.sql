-- Every question to the AI can be read afterwards: what was asked of what, by which rules, and how it ended. No words of the
-- question or the answer are kept here.

CREATE TABLE ai_executions (
    -- The family of who asked, also for a nag of a connection.
    family_id      uuid NOT NULL,
    user_id        uuid NOT NULL,
    created_at     timestamptz NOT NULL,
    id             uuid NOT NULL,
    trace_id       uuid NOT NULL,
    question_id    uuid,
    -- SHA-256 of the AI session's token.
    session_digest bytea,
    nag_id         uuid,
    operation      text NOT NULL,
    route          text NOT NULL CHECK (route IN ('local', 'cloud')),
    -- Null for an answer.
    error_code     text,
    -- The API's ExecutionReport.
    report         json NOT NULL,
    PRIMARY KEY (family_id, user_id, created_at, id)
);
CREATE INDEX ai_executions_of_trace ON ai_executions (family_id, trace_id);
GRANT SELECT, INSERT, DELETE ON ai_executions TO nagz_server;

CREATE TABLE ai_sessions (
    -- SHA-256 of the token.
    digest     bytea PRIMARY KEY,
    family_id  uuid NOT NULL,
    user_id    uuid NOT NULL,
    created_at timestamptz NOT NULL,
    used_at    timestamptz NOT NULL
);
CREATE INDEX ai_sessions_by_use ON ai_sessions (used_at);
GRANT SELECT, INSERT, DELETE ON ai_sessions TO nagz_server;
GRANT UPDATE (used_at) ON ai_sessions TO nagz_server;

-- What a person is to confirm before a question is answered.
CREATE TABLE ai_confirmations (
    -- SHA-256 of the token.
    digest         bytea PRIMARY KEY,
    family_id      uuid NOT NULL,
    user_id        uuid NOT NULL,
    -- SHA-256 of the question and of what is to be confirmed.
    request_digest bytea NOT NULL,
    expires_at     timestamptz NOT NULL,
    -- When it was accepted or declined.
    used_at        timestamptz
);
CREATE INDEX ai_confirmations_by_age ON ai_confirmations (expires_at);
GRANT SELECT, INSERT, DELETE ON ai_confirmations TO nagz_server;
GRANT UPDATE (used_at) ON ai_confirmations TO nagz_server;
