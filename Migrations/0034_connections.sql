-- Connections can be made. A connection is a ledger of its own: the row of family_clock that has the connection's id.

ALTER TABLE connections
    -- Whose children the other party may nag. Each party gives that for its own children only.
    ADD COLUMN inviter_shares_children boolean NOT NULL DEFAULT false,
    ADD COLUMN invitee_shares_children boolean NOT NULL DEFAULT false,
    -- When it was declined or revoked.
    ADD COLUMN ended_at timestamptz;
UPDATE connections SET inviter_shares_children = caregiver,
    ended_at = CASE WHEN status IN ('declined', 'revoked') THEN coalesce(responded_at, created_at) END;
ALTER TABLE connections
    ADD CONSTRAINT connections_caregiver_shares CHECK (caregiver = (inviter_shares_children OR invitee_shares_children)),
    ADD CONSTRAINT connections_end CHECK ((ended_at IS NOT NULL) = (status IN ('declined', 'revoked')));
DROP INDEX connections_of_inviter;
CREATE INDEX connections_of_inviter ON connections (inviter_id, created_at);
-- Invitations to an address that had no account when they were sent.
CREATE INDEX invitations_to_address ON connections (invitee_email) WHERE status = 'pending' AND invitee_id IS NULL;
CREATE INDEX invitations_by_age ON connections (created_at) WHERE status = 'pending';

-- A deleted account has no pending or active connection. Whichever of the two comes second is refused: a connection looks
-- at its accounts and locks them, so that a deletion at the same moment is waited for, or waits itself and then finds the
-- connection.
CREATE FUNCTION refuse_connection_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    account record;
BEGIN
    FOR account IN SELECT status FROM users WHERE id IN (NEW.inviter_id, NEW.invitee_id) ORDER BY id FOR SHARE LOOP
        IF account.status = 'deleted' THEN
            RAISE EXCEPTION 'a deleted account has no connection'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'deleted_has_no_connection';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER deleted_has_no_connection AFTER INSERT OR UPDATE OF status ON connections
    FOR EACH ROW WHEN (NEW.status IN ('pending', 'active')) EXECUTE FUNCTION refuse_connection_of_deleted();

CREATE FUNCTION refuse_deletion_of_connected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM connections WHERE inviter_id = NEW.id AND status IN ('pending', 'active'))
        OR EXISTS (SELECT FROM connections WHERE invitee_id = NEW.id AND status IN ('pending', 'active')) THEN
        RAISE EXCEPTION 'a deleted account has no connection'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'deleted_has_no_connection';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER deleted_has_no_connection AFTER UPDATE OF status ON users
    FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted')
    EXECUTE FUNCTION refuse_deletion_of_connected();
