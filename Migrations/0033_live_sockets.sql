-- Who has a WebSocket open, on which server: renewed while it is, so that a row of a server that died counts for some seconds
-- more. Not logged: after a crash of the database every server writes its rows anew.
CREATE UNLOGGED TABLE live_sockets (
    user_id  uuid NOT NULL,
    instance uuid NOT NULL,
    until    timestamptz NOT NULL,
    PRIMARY KEY (user_id, instance)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON live_sockets TO nagz_server;
