-- The words of a note are erased with their author's account. Nothing else of an event ever changes.
CREATE FUNCTION refuse_change_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'of an event only the words of a note may be erased'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'event_is_final';
END $$;
CREATE TRIGGER event_is_final BEFORE UPDATE OF payload ON nag_events
    FOR EACH ROW WHEN (OLD.event_type <> 'note_added' OR NEW.payload <> OLD.payload - 'text')
    EXECUTE FUNCTION refuse_change_of_event();
GRANT UPDATE (payload) ON nag_events TO nagz_server;
