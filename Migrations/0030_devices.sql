-- A push token belongs to the session that registered it, and goes when that session or its account ends; whatever ends it.
-- Null: registered with a development token, which has no session.
ALTER TABLE devices ADD COLUMN session_id uuid REFERENCES sessions ON DELETE CASCADE;
CREATE INDEX devices_of_session ON devices (session_id);

CREATE FUNCTION drop_devices_of_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM devices WHERE session_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER session_drops_devices AFTER UPDATE OF revoked_at ON sessions
    FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION drop_devices_of_session();

CREATE FUNCTION drop_devices_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM devices WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER account_drops_devices AFTER UPDATE OF status ON users
    FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION drop_devices_of_account();
