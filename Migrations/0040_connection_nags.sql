-- A nag belongs to a family or to a connection. One of a connection is in the connection's ledger: `family_id` is the
-- connection's id.

ALTER TABLE nags
    ADD COLUMN connection_id uuid,
    -- Every row that is there has none, so that there is nothing to scan.
    ADD CONSTRAINT nags_connection_is_ledger CHECK (connection_id = family_id) NOT VALID,
    DROP CONSTRAINT nags_family_id_creator_id_fkey,
    DROP CONSTRAINT nags_family_id_recipient_id_fkey;
ALTER TABLE inputs DROP CONSTRAINT inputs_family_id_user_id_fkey;

CREATE INDEX connection_nags ON nags (id) WHERE connection_id IS NOT NULL;
CREATE INDEX connection_nags_sent ON nags (creator_id) WHERE connection_id IS NOT NULL;
CREATE INDEX connection_nags_received ON nags (recipient_id) WHERE connection_id IS NOT NULL;

-- In place of the foreign keys: memberships are never deleted, so that it is enough to look at a new row.
CREATE FUNCTION refuse_nag_of_nonmember() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM memberships WHERE family_id = NEW.family_id AND user_id = NEW.creator_id)
        OR NOT EXISTS (SELECT FROM memberships WHERE family_id = NEW.family_id AND user_id = NEW.recipient_id) THEN
        RAISE EXCEPTION 'a nag of a family is between its members'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'nag_is_of_members';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER nag_is_of_members AFTER INSERT ON nags
    FOR EACH ROW WHEN (NEW.connection_id IS NULL) EXECUTE FUNCTION refuse_nag_of_nonmember();

CREATE FUNCTION refuse_input_of_stranger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM memberships WHERE family_id = NEW.family_id AND user_id = NEW.user_id)
        AND NOT EXISTS (SELECT FROM nags WHERE family_id = NEW.family_id AND id = NEW.nag_id AND connection_id IS NOT NULL
            AND NEW.user_id IN (creator_id, recipient_id)) THEN
        RAISE EXCEPTION 'an input is a member''s, or of somebody whose nag it is'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'input_is_of_member';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER input_is_of_member AFTER INSERT ON inputs FOR EACH ROW EXECUTE FUNCTION refuse_input_of_stranger();

-- A new nag of a connection is for the other party, or for a child of a family in which the other party, who shares its
-- children, is a guardian; and nobody of the three blocks the creator or is blocked. Memberships and blocks are in other
-- ledgers: a nag locks what it depends on, so that a departure or a block at the same moment waits and then finds the nag,
-- or is waited for.
CREATE FUNCTION refuse_nag_without_connection() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    other    uuid;
    shares   boolean;
    is_child boolean;
BEGIN
    SELECT CASE WHEN c.inviter_id = NEW.creator_id THEN c.invitee_id ELSE c.inviter_id END,
           CASE WHEN c.inviter_id = NEW.creator_id THEN c.invitee_shares_children ELSE c.inviter_shares_children END
    INTO other, shares
    FROM connections c
    WHERE c.id = NEW.connection_id AND c.status = 'active' AND NEW.creator_id IN (c.inviter_id, c.invitee_id);
    IF FOUND THEN
        -- Memberships first, as departures lock them.
        PERFORM FROM memberships k JOIN memberships g ON g.family_id = k.family_id
        WHERE k.user_id = NEW.recipient_id AND k.status = 'active' AND k.role = 'child'
            AND g.user_id = other AND g.status = 'active' AND g.role = 'guardian' FOR SHARE;
        is_child := FOUND;
        PERFORM FROM users WHERE id IN (NEW.creator_id, NEW.recipient_id, other) ORDER BY id FOR SHARE;
        IF (NEW.recipient_id = other OR shares AND is_child)
            AND NOT EXISTS (SELECT FROM blocks b WHERE b.state = 'active'
                AND (b.actor_id = NEW.creator_id AND b.target_id IN (NEW.recipient_id, other)
                     OR b.target_id = NEW.creator_id AND b.actor_id IN (NEW.recipient_id, other))) THEN
            RETURN NULL;
        END IF;
    END IF;
    RAISE EXCEPTION 'a nag of a connection is for the other party or for a child that it shares'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'nag_has_connection';
END $$;
CREATE TRIGGER nag_has_connection AFTER INSERT ON nags
    FOR EACH ROW WHEN (NEW.connection_id IS NOT NULL) EXECUTE FUNCTION refuse_nag_without_connection();

-- A child that is in no family, or not in one of a guardian's who shares it, has no open nag of a connection: they are
-- cancelled before the membership ends.
CREATE FUNCTION refuse_departure_with_nags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.role = 'child' AND EXISTS (
            SELECT FROM nags n WHERE n.recipient_id = NEW.user_id AND n.connection_id IS NOT NULL AND n.status = 'open')
        OR OLD.role = 'guardian' AND EXISTS (
            SELECT FROM memberships k JOIN nags n ON n.recipient_id = k.user_id
            JOIN connections c ON c.id = n.connection_id
            WHERE k.family_id = NEW.family_id AND k.status = 'active' AND k.role = 'child' AND n.connection_id IS NOT NULL
                AND n.status = 'open' AND NEW.user_id IN (c.inviter_id, c.invitee_id)) THEN
        RAISE EXCEPTION 'a child that is not shared has no open nag of a connection'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'departed_has_no_connection_nag';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER departed_has_no_connection_nag AFTER UPDATE OF status ON memberships
    FOR EACH ROW WHEN (NEW.status = 'removed' AND OLD.status = 'active') EXECUTE FUNCTION refuse_departure_with_nags();

-- Two people of whom one blocks the other have no open nag of a connection between them.
CREATE FUNCTION refuse_block_with_nags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM users WHERE id IN (NEW.actor_id, NEW.target_id) ORDER BY id FOR NO KEY UPDATE;
    IF EXISTS (
            SELECT FROM nags n WHERE n.connection_id IS NOT NULL AND n.status = 'open'
                AND (n.creator_id = NEW.actor_id AND n.recipient_id = NEW.target_id
                     OR n.creator_id = NEW.target_id AND n.recipient_id = NEW.actor_id))
        OR EXISTS (
            SELECT FROM connections c JOIN nags n ON n.family_id = c.id AND n.status = 'open'
            WHERE c.inviter_id = NEW.actor_id AND c.invitee_id = NEW.target_id
                OR c.inviter_id = NEW.target_id AND c.invitee_id = NEW.actor_id) THEN
        RAISE EXCEPTION 'nags of connections end before a block'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'blocked_has_no_connection_nag';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER blocked_has_no_connection_nag AFTER INSERT OR UPDATE OF state ON blocks
    FOR EACH ROW WHEN (NEW.state = 'active') EXECUTE FUNCTION refuse_block_with_nags();
