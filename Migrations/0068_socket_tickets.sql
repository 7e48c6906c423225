-- Tickets of one use that open a WebSocket, so that no access token need stand in its address.

CREATE TABLE socket_tickets (
    -- SHA-256 of the ticket.
    digest     bytea PRIMARY KEY CHECK (length(digest) = 32),
    user_id    uuid NOT NULL REFERENCES users,
    session_id uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX socket_tickets_by_end ON socket_tickets (expires_at);
CREATE INDEX socket_tickets_of_session ON socket_tickets (session_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON socket_tickets TO nagz_server;
