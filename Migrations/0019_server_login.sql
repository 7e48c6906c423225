-- The server signs in with a login of its own, a member of nagz_server, and checks at start which migrations were applied.
GRANT SELECT ON schema_migrations TO nagz_server;
